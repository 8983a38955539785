# SPDX-License-Identifier: MIT
"""The command `python -m gputap`."""
import os
import signal
import sys

USAGE = """python -m gputap COMMAND [options]

Commands
  sql   query captures, or a dataset of Parquet files, with SQL

`python -m gputap sql --help` explains the command's options.
"""


def main(arguments):
    """Run a command and return its exit status: 0, 1 after an error, 2 after a wrong option."""
    if arguments[:1] in (['-h'], ['--help'], ['help']):
        print(USAGE, end='')
        return 0
    if arguments[:1] != ['sql']:
        wrong = f'no command {arguments[0]!r}' if arguments else 'a command is missing'
        print(f'gputap: {wrong}; see python -m gputap --help', file=sys.stderr)
        return 2
    from gputap import _check_python
    try:
        _check_python()
    except ImportError as e:
        print(e, file=sys.stderr)
        return 1
    from gputap import sql_command
    return sql_command.main(arguments[1:])


if __name__ == '__main__':
    try:
        status = main(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of the output has left, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 1
    except KeyboardInterrupt:
        status = 128 + signal.SIGINT
    sys.exit(status)
