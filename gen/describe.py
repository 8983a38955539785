# SPDX-License-Identifier: MIT
"""Read an API description (api/*.api) and check it. api/README.md describes the language.

Every error raises one Bad("file:line: sentence"), with the nearest known word if a name is unknown,
so that the author of a description sees the line, not a traceback."""
import copy
import difflib
import os
import re

# Facts about a call that the thread that submits in the runtime needs in addition to its kind and
# stream.
ORDER_WORDS = ('by_handle', 'of_thread', 'plain', 'confuses')
# How the ranks of a communicator wait for each other in a collective call: enum gt_collective.
COLLECTIVES = ('all', 'from_root', 'to_root', 'any')
# Relation of a call to other calls of its thread or to other processes: bits of enum gt_joint.
JOINTS = ('sends', 'receives', 'by_kernel', 'opens_batch', 'closes_batch', 'begins', 'completes')
# Direction between host and device, if no argument contains it.
DIRECTIONS = {'to_device': 1, 'to_host': 2, 'on_device': 3}
# Event that a marker reports: enum gt_range_mark.
MARKS = ('instant', 'push', 'pop', 'start', 'stop', 'range')
# Kind of an allocation: enum gt_memory.
MEMORIES = ('host', 'device', 'shared', 'virtual', 'image', 'pool', 'registered')
KINDS = ('other', 'launch', 'copy', 'set', 'allocation', 'free', 'retain', 'synchronisation',
         'marker')
REPRESENTATIONS = {'u8': 1, 'u16': 2, 'u32': 4, 'u64': 8, 'i32': 4, 'i64': 8, 'f32': 4,
                   'f64': 8}
C_NAMES = {
    'u8': 'uint8_t', 'u16': 'uint16_t', 'u32': 'uint32_t', 'u64': 'uint64_t', 'i32': 'int32_t',
    'i64': 'int64_t', 'f32': 'float', 'f64': 'double'
}
# Role of an argument or member in its operation: enum gt_role.
ROLES = ('function', 'grid', 'block', 'stream', 'event', 'graph', 'graphexec', 'source',
         'destination', 'bytes', 'times', 'address', 'direction', 'device', 'value', 'message',
         'range', 'blocks', 'dependencies', 'symbol', 'signals', 'within', 'sequence', 'shapes',
         'scope', 'category', 'colour', 'payload', 'communicator', 'creates', 'split', 'root',
         'peer', 'rank', 'size', 'tag', 'request', 'which')
PREFIXES = ('out', 'status', 'string', 'strings', 'until0', 'named', 'as', 'const')
STATEMENTS = ('domain', 'called', 'define', 'table', 'entries', 'least', 'instances', 'part',
              'extensions', 'outermost', 'beneath', 'requested', 'family', 'activities',
              'announced', 'annotations', 'cold', 'relayed', 'streams', 'symbols',
              'interposed', 'prefixed', 'kernels', 'attach', 'category', 'rocpd', 'typeid',
              'environment', 'substitute', 'runtime', 'mode', 'include', 'handle', 'integer',
              'opaque', 'enum', 'flags', 'properties', 'status', 'struct', 'callback', 'arguments',
              'group')
TOKEN = re.compile(
    r'(?:\s|#[^\n]*)*'
    r'(?:("[^"\n]*")|(<[^>\n]*>)|(-?(?:0x[0-9A-Fa-f]+|0|[1-9]\d*))\b'
    r'|([A-Za-z_][\w.]*)|([][{}(),:=*])|(\S))'
)
# Names that the generated code itself uses. In generated C, an argument with such a name gets a
# trailing _.
RESERVED = ('tap', 'real', 'to', 't', 'id', 'start', 'end', 'ret', 'r', 'ok', 'blob', 'blobs',
            'bytes', 'call', 'services', 'status', 'came')


class Bad(Exception):
    pass


def nearest(word, words):
    found = difflib.get_close_matches(word, list(words), 1, 0.5)
    return f" (did you mean '{found[0]}'?)" if found else ''


class Token(str):
    """A word in the file and its position. `first`: true at the beginning of a line, where a
    statement begins."""
    file, line, kind, first = '', 0, '', False


class Type:
    def __init__(self, name, cls, rep='u64', c=None):
        self.name, self.cls, self.rep, self.c = name, cls, rep, c or name
        self.bytes = REPRESENTATIONS.get(rep, 8)
        self.names = []   # (name, value, type of the property's value or None)
        self.fields, self.args = [], []  # struct: (type, name, offset, role); callback
        self.role = None  # role of all arguments of the type without a role
        # struct: by_value: passed or returned by value; packed: at any address
        self.by_value = self.packed = False


class Arg:
    def __init__(self, name, base, stars, const, line):
        self.type, self.stars, self.const, self.line = base, stars, const, line
        self.shown = str(name)        # name for readers
        self.name = self.shown + ('_' if self.shown in RESERVED else '')  # in generated C
        # value pointer out status string strings until0 named array outarray properties struct
        self.how = 'value'
        # length: argument name, or number; outarray: length is the capacity, count the actual count
        self.length = self.count = None
        self.view = base              # type of the memory pointed to
        self.role, self.scale = base.role if stars < 2 else None, 1

    def spelled(self, base):
        return (
            f"{'const ' if self.const else ''}{base}{' ' + '*' * self.stars if self.stars else ''}"
        )

    def c_type(self):
        return self.spelled(self.type.c)

    def shown_type(self):
        return self.spelled(self.type.name)

    def declaration(self):
        return f'{self.c_type()} {self.name}'.replace('* ', '*')

    def element_bytes(self):
        return 8 if self.stars > 1 else 1 if self.view.cls == 'void' else self.view.bytes


class Operation:
    def __init__(self, number, name, group, where):
        self.number, self.name, self.group, self.where = number, name, group, where
        self.ret, self.ret_stars, self.args = None, 0, []
        self.kind, self.wrap, self.always, self.direct, self.hole = (
            'other',
            False,
            False,
            False,
            False,
        )
        self.readable, self.unless, self.exported, self.mark = [], None, None, None
        self.asks = []  # arguments whose values gputap queries after the call
        self.memory = None  # allocation or free: one of MEMORIES
        # ordered: None or a list of ORDER_WORDS
        self.waits, self.ordered, self.direction = False, None, None
        self.finishes = self.drains = False
        self.collective = None  # one of COLLECTIVES
        self.joints = []  # list of JOINTS

    def status_arg(self, api):
        """Return the index of the argument that holds the status. Return -1 for the return value,
        -2 if there is no status."""
        found = [i for i, a in enumerate(self.args) if a.how == 'status']
        return found[
            0] if found else -1 if self.ret is api.status_type and not self.ret_stars else -2

    def finished(self):
        """Return which GPU activities have finished after this call: enum gt_finished."""
        roles = [a.role for a in self.args]
        if self.drains:
            return 'STREAM'
        return ('NOTHING' if not self.finishes else 'QUEUE' if 'stream' in roles else
                'EVENTS' if 'event' in roles else 'ALL')

    def returns_nothing(self):
        return self.ret.cls == 'void' and not self.ret_stars

    def ret_c(self):
        return self.ret.c + (' ' + '*' * self.ret_stars if self.ret_stars else '')


class Variable:
    """An environment variable through which the runtime loads gputap: struct gt_variable."""

    def __init__(self, name, kind):
        self.name, self.kind = name, kind  # 'list', 'value', 'default', 'library'
        self.separator = self.value = self.other = self.with_value = self.saved = None
        self.until, self.ends = (None, None), False


class Runtime:
    """A library or tool that accelerator programs need: struct runtime of cli/runtimes.h."""

    def __init__(self, area, name):
        self.area, self.name = area, name
        self.library = self.way = self.hint = self.needs = self.software = None
        self.other, self.device = (None, None), (None, None)
        self.compiler = None, None, None  # name or otherwise file, how to install it


class Api:
    def __init__(self):
        self.domain = self.number = self.title = self.called = None
        self.table = self.header = self.status_type = None
        self.table_count, self.table_from, self.extensions, self.least = 0, 0, 1 << 16, 0
        self.instances = None  # GT_INSTANCES
        self.succeeds, self.absent, self.refuses = [], [], []  # (status, value), ..
        self.defines = []  # texts
        # facts that the rest of gputap needs about the domain: struct gt_domain_traits
        self.outermost = self.beneath = self.activities = self.category = self.rocpd = None
        self.family = None  # a word shared between several domains
        self.annotations = self.relayed = self.streams = self.symbols = False
        self.typeid = self.requested = False
        self.announced = False  # no taps: start and end of calls are announced
        self.cold = False  # taps are small rather than fast
        self.attach = []  # (name, text)
        self.parts = []   # (function that fills the part in, number of its first entry)
        self.runtime = None    # Runtime
        self.mode = None       # (name, text): for `gputap run --mode`
        self.variables = []    # Variable: variables that load gputap
        self.substitutes = []  # (name that a program requests, our file)
        # symbol that identifies the library, and symbol that identifies excluded libraries or None
        self.interposed = None
        self.kernels = None  # prefix of the names of its collective kernels
        self.prefixed = None  # prefix of a second name of each function
        self.types = {'void': Type('void', 'void'), 'char': Type('char', 'char', 'u8')}
        self.macros, self.operations, self.sources = {}, [], []

    def real(self):
        """Return the operations that can be called, by number."""
        return [o for o in self.operations if not o.hole]


class Parser:
    def __init__(self, api, root):
        self.api, self.root, self.group = api, root, None

    # Tokens ----------------------------------------------------------------
    def load(self, path):
        shown = os.path.relpath(path, self.root)
        if shown in self.api.sources:
            raise Bad(f'{shown}: included twice')
        self.api.sources.append(shown)
        try:
            text = open(path, encoding='utf-8').read()
        except (OSError, UnicodeDecodeError) as e:
            raise Bad(f'{shown}: {getattr(e, "strerror", None) or e}')
        out = []
        for m in TOKEN.finditer(text):
            t, at = Token(m.group(m.lastindex)), m.start(m.lastindex)
            t.file, t.line = shown, text.count('\n', 0, at) + 1
            t.first = at == 0 or text[at - 1] == '\n'
            t.kind = ('string', 'header', 'number', 'word', 'mark', 'bad')[m.lastindex - 1]
            if t.kind == 'bad':
                self.fail(t, f"unexpected '{t}'")
            out.append(t)
        return out

    def fail(self, token, message):
        raise Bad(f'{token.file}:{token.line}: {message}')

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def take(self, want=None, kind=None):
        t = self.peek()
        if t is None:
            self.fail(self.tokens[-1], f"unexpected end of file, expected {want or kind or 'more'}")
        wanted = repr(want) if want else 'a ' + kind if kind else 'more'
        if t.first and t != '}':
            self.fail(t, f"expected {wanted}; continuation lines are indented")
        if (want and t != want) or (kind and t.kind != kind):
            self.fail(t, f"expected {wanted}, found '{t}'")
        self.at += 1
        return t

    def word(self):
        return self.take(kind='word')

    def accept(self, word):
        found = self.peek() == word
        self.at += found
        return found

    def items(self, opening, closing):
        """Yield once for each item in a comma-separated list. A comma may follow the last item."""
        self.take(opening)
        while not self.accept(closing):
            yield
            if not self.accept(','):
                self.take(closing)
                return

    # Statements ------------------------------------------------------------
    def read(self, path):
        outer = getattr(self, 'tokens', None), getattr(self, 'at', 0)
        self.tokens, self.at = self.load(path), 0
        while self.peek() is not None:
            t = self.tokens[self.at]
            self.at += 1
            if not t.first:
                self.fail(
                    t, f"'{t}' is not part of a statement; statements start in the first column")
            if t.kind == 'number':
                self.operation(t)
            elif t in STATEMENTS:
                getattr(self, 'do_' + t)(t)
            else:
                self.fail(t, f"unknown statement '{t}'{nearest(t, STATEMENTS)}")
        self.tokens, self.at = outer

    def text(self):
        return str(self.take(kind='string')).strip('"')

    def do_domain(self, _):
        self.api.domain = self.word()
        self.api.number = int(self.take(kind='number'))
        self.api.title = self.text()

    def do_called(self, _):
        self.api.called = self.text()

    def do_define(self, _):
        self.api.defines.append(self.text())

    def do_table(self, _):
        self.api.table = self.word()
        self.api.table_count = int(self.take(kind='number'))
        self.api.header = self.take(kind='header')

    def do_entries(self, _):
        self.api.table_count = int(self.take(kind='number'))
        self.take('from')
        self.api.table_from = int(self.take(kind='number'))

    def do_least(self, _):
        self.api.least = int(self.take(kind='number'))

    def do_instances(self, t):
        self.api.instances = int(self.take(kind='number'))
        if self.api.instances not in (1, 2):
            self.fail(t, 'instances must be 1 or 2; without the statement they are 8')

    def do_part(self, t):
        function, first = self.text(), int(self.take(kind='number'))
        if first >= self.api.table_count or self.api.parts and first <= self.api.parts[-1][1]:
            self.fail(t, f"'{function}' must start after the last part and within the table")
        self.api.parts.append((function, first))

    def do_outermost(self, t):
        more = self.peek() is not None and not self.peek().first
        self.api.outermost = str(self.word()) if more else self.api.domain

    def do_beneath(self, _):
        self.api.beneath = self.word()

    def flag(self, t):
        setattr(self.api, t, True)

    do_requested = do_cold = do_annotations = do_relayed = do_streams = flag
    do_symbols = do_typeid = flag

    def do_announced(self, _):
        self.api.announced, self.api.instances = True, 1

    def do_family(self, _):
        self.api.family = self.word()

    def do_activities(self, _):
        self.api.activities = self.word()

    def do_interposed(self, _):
        self.api.interposed = self.text(), self.text() if self.accept('except') else None

    def do_prefixed(self, _):
        self.api.prefixed = self.text()

    def do_kernels(self, _):
        self.api.kernels = self.text()

    def do_attach(self, _):
        self.api.attach.append((self.text(), self.text()))

    def do_environment(self, t):
        name = self.text()
        if self.accept('list'):
            variable = Variable(name, 'list')
            variable.separator = self.text()
            if len(variable.separator) != 1:
                self.fail(t, 'the separator of a list must be one character')
            variable.ends = self.accept('ends')
        elif self.accept('value'):
            variable = Variable(name, 'value')
            variable.value = self.text()
        elif self.accept('default'):
            variable = Variable(name, 'default')
            variable.value = self.text()
            if self.accept('with'):
                variable.other, variable.with_value = self.text(), self.text()
        elif self.accept('library'):
            variable = Variable(name, 'library')
        else:
            self.fail(t, 'expected list, value, default or library')
        if variable.kind in ('list', 'value') and self.accept('saved'):
            variable.saved = self.text()
        if variable.kind == 'list' and self.accept('until'):
            variable.until = self.text(), self.text() if self.accept('except') else None
        self.api.variables.append(variable)

    def do_substitute(self, _):
        ours = self.text()
        self.api.substitutes.append((ours, ours))
        if self.accept('for'):
            self.api.substitutes.append((self.text(), ours))

    def do_runtime(self, t):
        if self.api.runtime:
            self.fail(t, 'a description can have only one runtime')
        runtime = self.api.runtime = Runtime(str(self.word()), self.text())
        if self.accept('library'):
            runtime.library = self.text()
            runtime.way = self.text() if self.accept('by') else None
            if self.accept('or'):
                way = self.text()
                self.take('with')
                runtime.other = way, self.text()
            if self.accept('on'):
                runtime.device = self.text(), self.text()
                runtime.software = self.text() if self.accept('software') else None
            runtime.needs = self.word() if self.accept('needs') else None
            runtime.hint = self.text() if self.accept('hint') else None
            if self.accept('compiler'):
                runtime.compiler = self.text(), self.text(), self.text()

    def do_mode(self, t):
        if self.api.mode:
            self.fail(t, 'a description can have only one mode')
        self.api.mode = self.word(), self.text()

    def do_category(self, _):
        self.api.category = self.text()

    def do_rocpd(self, _):
        self.api.rocpd = self.text()

    def do_extensions(self, _):
        self.api.extensions = int(self.take(kind='number'))

    def do_include(self, t):
        self.read(os.path.join(self.root, os.path.dirname(t.file), self.text()))

    def do_group(self, _):
        self.group = self.word()

    def define(self, cls, rep='u64'):
        name = self.word()
        if name in self.api.types:
            self.fail(name, f"type '{name}' is described twice")
        if rep is None:
            rep = self.word()
            if rep not in REPRESENTATIONS:
                self.fail(rep, f"unknown representation '{rep}'{nearest(rep, REPRESENTATIONS)}")
        spelling = self.take(kind='string').strip('"') if self.accept('as') else None
        typ = self.api.types[str(name)] = Type(str(name), cls, str(rep), spelling)
        typ.role = self.role()
        return typ

    def role(self):
        t = self.peek()
        return str(self.take()) if t in ROLES and not t.first else None

    def do_handle(self, t):
        self.define('handle')

    def do_integer(self, t):
        self.define('integer', None)

    def do_opaque(self, t):
        self.define('void')

    def names(self, typ):
        seen = {}
        for _ in self.items('{', '}'):
            name = self.word()
            if name in seen:
                self.fail(name, f"'{name}' is in {typ.name} twice")
            self.take('=')
            value = self.take(kind='number')
            if int(value, 0) in seen.values():
                self.fail(value, f"{value} has two names in {typ.name}")
            seen[name] = int(value, 0)
            more = typ.cls == 'properties' and self.peek() not in (',', '}')
            typ.names.append((str(name), seen[name], self.type_of(self.word()) if more else None))

    def do_enum(self, t):
        self.names(self.define(str(t), None))

    do_flags = do_properties = do_enum

    def do_status(self, t):
        self.api.status_type = self.define('status', None)
        self.names(self.api.status_type)
        if self.peek() == 'succeeds' and not self.peek().first:
            self.take()
            self.api.succeeds = self.statuses()
        if self.peek() == 'absent' and not self.peek().first:
            self.take()
            self.api.absent = self.statuses()
        if self.peek() == 'refuses' and not self.peek().first:
            self.take()
            self.api.refuses = self.statuses()

    def statuses(self):
        known, out = {
            k: v for k, v, _ in (self.api.status_type.names if self.api.status_type else [])
        }, []
        for _ in self.items('(', ')'):
            s = self.word()
            if s not in known:
                self.fail(s, f"unknown status '{s}'{nearest(s, known)}")
            out.append((str(s), known[s]))
        return out

    def do_struct(self, t):
        typ, offset = self.define('struct'), 0
        typ.packed = self.accept('packed')
        for _ in self.items('{', '}'):
            field = self.type_of(self.word())
            if field.cls in ('void', 'char', 'struct'):
                self.fail(self.tokens[self.at - 1], f"a field cannot be {field.name}")
            offset = (offset + field.bytes - 1) // field.bytes * field.bytes
            name = str(self.word())
            typ.fields.append((field, name, offset, self.role() or field.role))
            offset += field.bytes
        widest = max((f[0].bytes for f in typ.fields), default=1)
        typ.bytes = (offset + widest - 1) // widest * widest

    def do_callback(self, t):
        callback = self.define('callback')
        callback.args = self.arguments()

    def do_arguments(self, _):
        name = self.word()
        self.api.macros[str(name)] = self.arguments()

    # Operations --------------------------------------------------------------
    def type_of(self, t):
        if t not in self.api.types:
            self.fail(t, f"unknown type '{t}'{nearest(t, self.api.types)}")
        return self.api.types[t]

    def argument(self):
        prefix = view = None
        const = False
        while True:
            t = self.word()
            if t not in PREFIXES:
                break
            if t == 'const':
                const = True
            elif prefix:
                self.fail(t, f"'{prefix} {t}' cannot be combined")
            else:
                prefix = t
                if t == 'as':
                    view = self.type_of(self.word())
        base, stars = self.type_of(t), 0
        while self.accept('*'):
            stars += 1
        name = self.word()
        arg = Arg(name, base, stars, const, t)
        arg.view = view or base
        if self.accept('['):
            arg.length = self.take()
            if self.accept(':'):
                arg.count = self.word()
            self.take(']')
        arg.role = self.role() or arg.role
        if arg.role and self.accept('*'):
            arg.scale = int(self.take(kind='number'), 0)
        self.classify(arg, prefix, name)
        return arg

    def classify(self, a, prefix, t):
        cls = a.view.cls
        if prefix == 'named':
            a.how = 'named'
            if cls != 'handle' and a.shown_type() != 'const void *':
                self.fail(t, f"'{a.shown}' cannot be named: it is {a.shown_type()}")
            return
        if prefix and prefix != 'as' and not a.stars:
            self.fail(t, f"'{prefix}' needs a pointer, and '{a.shown}' is not one")
        if not a.stars:
            if a.length is not None or cls in ('void', 'properties'):
                self.fail(t, f"'{a.shown}' must be a pointer")
            if cls == 'struct':
                a.how, a.type.by_value = 'byvalue', True
            return
        if prefix in ('status', 'string', 'strings', 'until0'):
            a.how = str(prefix)
            wrong = (prefix == 'until0' and a.stars == 1 and a.type.bytes != 8
                     or prefix == 'status' and a.type is not self.api.status_type
                     or prefix == 'string' and (cls != 'char' or a.stars != 1)
                     or prefix == 'strings' and (cls != 'char' or a.stars != 2 or a.length is None))
            if wrong:
                self.fail(t, f"'{a.shown}' cannot be {prefix}: it is {a.shown_type()}")
        elif prefix == 'out':
            a.how = (
                'outarray'
                if a.length is not None
                else 'outstruct' if cls == 'struct' and a.stars == 1 else 'out'
            )
            if a.stars == 1 and cls in ('void', 'properties'):
                self.fail(t, f"'{a.shown}': {a.shown_type()} does not point to a single value")
        elif a.length is not None:
            a.how = 'array'
        elif cls == 'properties' and a.stars == 1:
            a.how = 'properties'
        elif cls == 'struct' and a.stars == 1 and (a.const or prefix == 'as'):
            a.how = 'struct'
        else:
            a.how = 'pointer'

    def arguments(self):
        out = []
        for _ in self.items('(', ')'):
            if self.peek() in self.api.macros:
                out += [copy.copy(a) for a in self.api.macros[self.take()]]
            else:
                out.append(self.argument())
        return out

    def operation(self, number):
        n = int(number, 0)
        op = Operation(n, None, self.group, number)
        if self.accept('hole'):
            op.hole = True
            op.name = self.word()
        else:
            self.accept('const')
            op.ret = self.type_of(self.word())
            while self.accept('*'):
                op.ret_stars += 1
            op.ret.by_value |= op.ret.cls == 'struct' and not op.ret_stars
            op.name = self.word()
            op.args = self.arguments()
            self.words(op)
            self.check_arguments(op)
        for o in self.api.operations:
            if o.number == n:
                self.fail(
                    number, f'number {n} is {o.name}, line {o.where.line} of {o.where.file};'
                    ' numbers are never used again')
            if o.name == op.name:
                self.fail(
                    op.name,
                    f"'{o.name}' is already described in line {o.where.line} of {o.where.file}")
        if self.group is None:
            self.fail(number, 'an operation before the first group')
        self.check_announced(op)
        if n >= 1024:  # GT_OPS_PER_DOMAIN
            self.fail(number, f'number {n}: numbers must be below 1024')
        if self.api.table_count <= n < self.api.extensions:
            self.fail(
                number,
                f'number {n} is neither in the table (below {self.api.table_count}) nor an'
                f' extension ({self.api.extensions} and above)',
            )
        op.name = str(op.name)
        self.api.operations.append(op)

    def words(self, op):
        allowed = KINDS[1:] + tuple(DIRECTIONS) + ('wrap', 'readable', 'unless', 'asks',
                                                   'exported', 'waits', 'finishes', 'drains',
                                                   'ordered', 'collective') + JOINTS
        while self.peek() is not None and not self.peek().first:
            w = self.word()
            if w == 'wrap':
                op.wrap = True
                op.always = not (self.peek() and self.peek().first) and self.accept('always')
                op.direct = not (self.peek() and self.peek().first) and self.accept('direct')
            elif w == 'unless':
                op.unless = self.word()
            elif w == 'asks':
                op.asks = self.asked_arguments()
            elif w == 'exported':
                op.exported, more = self.text(), self.peek()
                op.exported += self.text() if more and more.kind == 'string' else ''  # a long one
            elif w == 'waits':
                op.waits = True
            elif w in ('finishes', 'drains'):
                setattr(op, str(w), True)
            elif w in DIRECTIONS:
                op.direction = str(w)
            elif w == 'collective':
                op.collective = str(self.word())
                if op.collective not in COLLECTIVES:
                    self.fail(w, f"'{op.collective}' does not say who waits in a collective"
                              f'{nearest(op.collective, COLLECTIVES)}')
            elif w in JOINTS:
                op.joints.append(str(w))
            elif w == 'ordered':
                op.ordered = self.ordered_words()
            elif w == 'readable':
                op.readable += self.statuses()
            elif w in KINDS[1:]:
                op.kind = str(w)
                more = self.peek() is not None and not self.peek().first
                if op.kind == 'marker' and more and self.peek() in MARKS:
                    op.mark = str(self.word())
                if op.kind in ('allocation', 'free') and more and self.peek() in MEMORIES:
                    op.memory = str(self.word())
            else:
                self.fail(w, f"unknown word '{w}' of an operation{nearest(w, allowed)}")

    def asked_arguments(self):
        return [self.word() for _ in self.items('(', ')')]

    def ordered_words(self):
        found = []
        if self.accept('('):
            while not self.accept(')'):
                w = self.word()
                if w not in ORDER_WORDS:
                    self.fail(w, f"unknown word '{w}' of ordered{nearest(w, ORDER_WORDS)}")
                found.append(str(w))
        return found

    def check_announced(self, op):
        """Check words that are valid only for taps, or only for announced calls."""
        named = [a for a in op.args if a.how == 'named']
        if named and not self.api.announced:
            self.fail(op.name, f"'{named[0].shown}' cannot be named: only an announced domain"
                      ' has names')
        if self.api.announced and (op.wrap or op.ordered is not None or op.readable or op.waits
                                   or op.asks or any(a.how in ('status', 'properties', 'until0')
                                          or a.length and a.length_arg == 255
                                          and a.how != 'strings' for a in op.args)):
            self.fail(op.name, f'{op.name}: an announced call has no tap to do this')

    def check_arguments(self, op):
        names = [a.shown for a in op.args]
        by_name = {a.shown: a.name for a in op.args}
        for i, a in enumerate(op.args):
            if a.shown in names[:i]:
                self.fail(a.line, f"two arguments of {op.name} are called '{a.shown}'")
            for b in (a.length, a.count):
                if b is not None and b.kind != 'number' and b not in names:
                    self.fail(b, f"{op.name} has no argument '{b}'{nearest(b, names)}")
            for b, pointer, what in ((a.length, False, 'a length'), (a.count, True,
                                                                     'a count or lengths')):
                if b in names and bool(op.args[names.index(b)].stars) != pointer:
                    self.fail(
                        b, f"'{b}' cannot be {what}: it is {op.args[names.index(b)].shown_type()}")
            a.length_arg = names.index(a.length) if a.length in names else 255
            a.length, a.count = by_name.get(a.length, a.length), by_name.get(a.count, a.count)
        if [a.how for a in op.args].count('status') > 1:
            self.fail(op.name, f'{op.name} has more than one status')
        if len(op.args) > 255:
            self.fail(op.name, f'{op.name} has more arguments than a record can hold')
        for word in ('finishes', 'drains'):
            if getattr(op, word) and op.kind != 'synchronisation':
                self.fail(op.name, f"{op.name} '{word}', but is not a synchronisation")
        if op.drains and not any(a.role == 'stream' for a in op.args):
            self.fail(op.name, f"{op.name} 'drains' a stream, but has none")
        for word, role in (('sends', 'peer'), ('receives', 'peer')):
            if word in op.joints and not any(a.role == role for a in op.args):
                self.fail(op.name, f"{op.name} '{word}' a message, but no argument is its {role}")
        for asked in op.asks:
            if asked not in names and not (asked == 'ret' and not op.returns_nothing()):
                self.fail(asked, f"{op.name} has no argument '{asked}'{nearest(asked, names)}")
        op.asks = [by_name.get(asked, asked) for asked in op.asks]
        if op.unless and op.unless not in names:
            self.fail(op.unless,
                      f"{op.name} has no argument '{op.unless}'{nearest(op.unless, names)}")
        op.unless = by_name.get(op.unless, op.unless)


def is_domain(path):
    """Return true for the description of a domain, false for a part that other descriptions
    include."""
    with open(path, encoding='utf-8') as f:
        return any(line.startswith('domain ') for line in f)


def parse(path, root):
    api = Api()
    p = Parser(api, root)
    p.read(path)
    if not api.domain:
        raise Bad(f'{os.path.relpath(path, root)}:1: no domain statement')
    api.operations.sort(key=lambda o: o.number)
    return api
