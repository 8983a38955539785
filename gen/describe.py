# SPDX-License-Identifier: MIT
"""Reads an API description (api/*.api) and checks it. The language is told in api/README.md.

Everything that is wrong ends in one Bad("file:line: sentence"), with the nearest right word
where a name is unknown: whoever edits a description sees the line, never a traceback."""
import difflib
import os
import re

KINDS = ('other', 'launch', 'copy', 'set', 'allocation', 'free', 'synchronisation', 'marker')
REPRESENTATIONS = {'u8': 1, 'u16': 2, 'u32': 4, 'u64': 8, 'i32': 4, 'i64': 8}
PREFIXES = ('out', 'status', 'string', 'strings', 'until0', 'as', 'const')
STATEMENTS = ('domain', 'table', 'extensions', 'include', 'handle', 'integer', 'enum', 'flags', 'properties',
              'status', 'struct', 'callback', 'arguments', 'group')
TOKEN = re.compile(r'\s*(?:#[^\n]*)?(?:(\n)|("[^"\n]*")|(<[^>\n]*>)|(-?(?:0x[0-9A-Fa-f]+|\d+))\b|([A-Za-z_]\w*)|([][{}(),:=*])|(\S))')


class Bad(Exception):
    pass


def nearest(word, words):
    found = difflib.get_close_matches(word, list(words), 1, 0.5)
    return f" (did you mean '{found[0]}'?)" if found else ''


class Token(str):
    """A word of the file and where it stands. `first`: at the beginning of a line, where only statements begin."""
    file, line, kind, first = '', 0, '', False


class Type:
    def __init__(self, name, cls, rep='u64', c=None):
        self.name, self.cls, self.rep, self.c = name, cls, rep, c or name
        self.bytes = REPRESENTATIONS.get(rep, 8)
        self.names = []   # (name, value, type of the property's value or None)
        self.fields = []  # struct: (type, name, offset)
        self.args = []    # callback


class Arg:
    def __init__(self, name, base, stars, const, line):
        self.name, self.type, self.stars, self.const, self.line = name, base, stars, const, line
        self.how = 'value'            # value pointer out status string strings until0 array outarray properties struct
        self.length = self.count = None  # argument name or number; outarray: capacity and how many came
        self.view = base              # what the memory pointed to is

    def c_type(self):
        return f"{'const ' if self.const else ''}{self.type.c}{' ' + '*' * self.stars if self.stars else ''}"

    def shown_type(self):
        return f"{'const ' if self.const else ''}{self.type.name}{' ' + '*' * self.stars if self.stars else ''}"

    def declaration(self):
        t = self.c_type()
        return t + ('' if t.endswith('*') else ' ') + self.name

    def element_bytes(self):
        return 8 if self.stars > 1 else 1 if self.view.cls == 'void' else self.view.bytes


class Operation:
    def __init__(self, number, name, group, where):
        self.number, self.name, self.group, self.where = number, name, group, where
        self.ret, self.ret_stars, self.args = None, 0, []
        self.kind, self.wrap, self.hole = 'other', False, False
        self.readable, self.unless = [], None

    def status_arg(self, api):
        """Index of the argument that holds the status, -1: the return value, -2: none."""
        for i, a in enumerate(self.args):
            if a.how == 'status':
                return i
        return -1 if self.ret is api.status_type and not self.ret_stars else -2

    def ret_c(self):
        return self.ret.c + (' ' + '*' * self.ret_stars if self.ret_stars else '')


class Api:
    def __init__(self):
        self.domain = self.table = self.header = self.status_type = None
        self.table_count, self.extensions = 0, 1 << 16
        self.types = {'void': Type('void', 'void'), 'char': Type('char', 'char', 'u8')}
        self.macros, self.operations, self.sources = {}, [], []

    def real(self):
        """Operations that can be called, by number."""
        return [o for o in self.operations if not o.hole]


class Parser:
    def __init__(self, api, root):
        self.api, self.root, self.group = api, root, None

    # Tokens ----------------------------------------------------------------
    def load(self, path):
        shown = os.path.relpath(path, self.root)
        self.api.sources.append(shown)
        try:
            text = open(path, encoding='utf-8').read()
        except OSError as e:
            raise Bad(f'{shown}: {e.strerror}')
        line, out = 1, []
        for m in TOKEN.finditer(text + '\n'):
            kind = ('newline', 'string', 'header', 'number', 'word', 'mark', 'bad')[m.lastindex - 1]
            line += m.group(0)[:m.start(m.lastindex) - m.start()].count('\n')
            if kind == 'newline':
                line += 1
                continue
            t = Token(m.group(m.lastindex))
            at = m.start(m.lastindex)
            t.file, t.line, t.kind, t.first = shown, line, kind, at == 0 or text[at - 1] == '\n'
            if kind == 'bad':
                self.fail(t, f"'{t}' means nothing here")
            out.append(t)
        return out

    def fail(self, token, message):
        raise Bad(f'{token.file}:{token.line}: {message}')

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def take(self, want=None, kind=None):
        t = self.peek()
        if t is None:
            self.fail(self.tokens[-1], f"the file ends where {want or kind or 'more'} is expected")
        wanted = repr(want) if want else 'a ' + kind if kind else 'more'
        if t.first and t != '}':
            self.fail(t, f"expected {wanted}; a statement that goes on is indented")
        if (want and t != want) or (kind and t.kind != kind):
            self.fail(t, f"expected {wanted}, found '{t}'")
        self.at += 1
        return t

    def accept(self, word):
        if self.peek() == word:
            self.at += 1
            return True
        return False

    # Statements ------------------------------------------------------------
    def read(self, path):
        outer = getattr(self, 'tokens', None), getattr(self, 'at', 0)
        self.tokens, self.at = self.load(path), 0
        while self.peek() is not None:
            t = self.tokens[self.at]
            self.at += 1
            if not t.first:
                self.fail(t, f"'{t}' belongs to no statement; a statement begins where the line begins")
            if t.kind == 'number':
                self.operation(t)
            elif t in STATEMENTS:
                getattr(self, 'do_' + t)(t)
            else:
                self.fail(t, f"no statement begins with '{t}'{nearest(t, STATEMENTS)}")
        directory = os.path.dirname(path)
        self.tokens, self.at = outer
        return directory

    def do_domain(self, _):
        self.api.domain = self.take(kind='word')

    def do_table(self, _):
        self.api.table = self.take(kind='word')
        self.api.table_count = int(self.take(kind='number'))
        self.api.header = self.take(kind='header')

    def do_extensions(self, _):
        self.api.extensions = int(self.take(kind='number'))

    def do_include(self, t):
        name = self.take(kind='string').strip('"')
        self.read(os.path.join(self.root, os.path.dirname(t.file), name))

    def do_group(self, _):
        self.group = self.take(kind='word')

    def spelling(self):
        return self.take(kind='string').strip('"') if self.accept('as') else None

    def define(self, t, cls, rep='u64'):
        name = self.take(kind='word')
        if name in self.api.types:
            self.fail(name, f"type '{name}' is described twice")
        if rep is None:
            rep = self.take(kind='word')
            if rep not in REPRESENTATIONS:
                self.fail(rep, f"'{rep}' is no representation{nearest(rep, REPRESENTATIONS)}")
        typ = self.api.types[str(name)] = Type(str(name), cls, str(rep), self.spelling())
        return typ

    def do_handle(self, t):
        self.define(t, 'handle')
        while self.accept(','):
            self.define(t, 'handle')

    def do_integer(self, t):
        self.define(t, 'integer', None)

    def names(self, typ):
        self.take('{')
        seen = {}
        while not self.accept('}'):
            name = self.take(kind='word')
            if name in seen:
                self.fail(name, f"'{name}' stands in {typ.name} twice")
            self.take('=')
            value = self.take(kind='number')
            if int(value, 0) in seen.values():
                self.fail(value, f"{value} has two names in {typ.name}")
            seen[name] = int(value, 0)
            follows = self.take(kind='word') if self.peek() is not None and self.peek().kind == 'word' else None
            typ.names.append((str(name), seen[name], self.type_of(follows) if follows else None))
            if not self.accept(','):
                self.take('}')
                break

    def do_enum(self, t):
        self.names(self.define(t, str(t), None))

    do_flags = do_properties = do_enum

    def do_status(self, t):
        self.api.status_type = self.define(t, 'status', None)
        self.names(self.api.status_type)

    def do_struct(self, t):
        typ, offset = self.define(t, 'struct'), 0
        self.take('{')
        while not self.accept('}'):
            field = self.type_of(self.take(kind='word'))
            if field.cls in ('void', 'char', 'struct'):
                self.fail(self.tokens[self.at - 1], f"a field cannot be {field.name}")
            offset = (offset + field.bytes - 1) // field.bytes * field.bytes
            typ.fields.append((field, str(self.take(kind='word')), offset))
            offset += field.bytes
            if not self.accept(','):
                self.take('}')
                break
        widest = max(f.bytes for f, _, _ in typ.fields)
        typ.bytes = (offset + widest - 1) // widest * widest

    def do_callback(self, t):
        callback = self.define(t, 'callback')
        callback.args = self.arguments(callback)

    def do_arguments(self, _):
        name = self.take(kind='word')
        self.api.macros[str(name)] = self.arguments(name)

    # Operations --------------------------------------------------------------
    def type_of(self, t):
        if t not in self.api.types:
            self.fail(t, f"unknown type '{t}'{nearest(t, self.api.types)}")
        return self.api.types[t]

    def bound(self):
        t = self.take()
        if t.kind not in ('word', 'number'):
            self.fail(t, f"expected an argument's name or a number, found '{t}'")
        return t

    def argument(self):
        prefix = view = None
        const = False
        while True:
            t = self.take(kind='word')
            if t not in PREFIXES:
                break
            if t == 'const':
                const = True
            elif prefix:
                self.fail(t, f"'{prefix} {t}' is one word too many")
            else:
                prefix = t
                if t == 'as':
                    view = self.type_of(self.take(kind='word'))
        base, stars = self.type_of(t), 0
        while self.accept('*'):
            stars += 1
        arg = Arg(None, base, stars, const, t)
        arg.view = view or base
        name = self.take(kind='word')
        arg.name = str(name)
        if self.accept('['):
            arg.length = self.bound()
            if self.accept(':'):
                arg.count = self.bound()
            self.take(']')
        self.classify(arg, prefix, name)
        return arg

    def classify(self, a, prefix, t):
        cls = a.view.cls
        if prefix and prefix != 'as' and not a.stars:
            self.fail(t, f"'{prefix}' needs a pointer, '{a.name}' is none")
        if not a.stars:
            if a.length is not None or cls in ('void', 'properties', 'struct'):
                self.fail(t, f"'{a.name}' must be a pointer")
            return
        if prefix in ('status', 'string', 'strings', 'until0'):
            a.how = str(prefix)
            wrong = (prefix == 'status' and a.type is not self.api.status_type
                     or prefix == 'string' and (cls != 'char' or a.stars != 1)
                     or prefix == 'strings' and (cls != 'char' or a.stars != 2 or a.length is None))
            if wrong:
                self.fail(t, f"'{a.name}' cannot be {prefix}: it is {a.shown_type()}")
        elif prefix == 'out':
            a.how = 'out' if a.length is None else 'outarray'
            if a.stars == 1 and cls in ('void', 'struct', 'properties'):
                self.fail(t, f"'{a.name}': what {a.shown_type()} points to is no single value")
        elif a.length is not None:
            a.how = 'array'
        elif cls == 'properties' and a.stars == 1:
            a.how = 'properties'
        elif cls == 'struct' and a.stars == 1 and (a.const or prefix == 'as'):
            a.how = 'struct'
        else:
            a.how = 'pointer'

    def arguments(self, before):
        self.take('(')
        out = []
        while not self.accept(')'):
            if self.peek() in self.api.macros:
                out += self.api.macros[self.take()]
            else:
                out.append(self.argument())
            if not self.accept(','):
                self.take(')')
                break
        return out

    def operation(self, number):
        n = int(number, 0)
        op = Operation(n, None, self.group, number)
        if self.accept('hole'):
            op.hole = True
            op.name = self.take(kind='word')
        else:
            self.accept('const')
            op.ret = self.type_of(self.take(kind='word'))
            while self.accept('*'):
                op.ret_stars += 1
            op.name = self.take(kind='word')
            op.args = self.arguments(op.name)
            self.words(op)
            self.check_arguments(op)
        for o in self.api.operations:
            if o.number == n:
                self.fail(number, f'number {n} is {o.name}, line {o.where.line} of {o.where.file}; numbers are never used again')
            if o.name == op.name:
                self.fail(op.name, f"'{o.name}' is described already, line {o.where.line} of {o.where.file}")
        if self.group is None:
            self.fail(number, 'an operation before the first group')
        if self.api.table_count <= n < self.api.extensions:
            self.fail(number, f'number {n} is neither of the table (below {self.api.table_count}) nor an extension ({self.api.extensions} and above)')
        op.name = str(op.name)
        self.api.operations.append(op)

    def words(self, op):
        allowed = KINDS[1:] + ('wrap', 'readable', 'unless')
        while self.peek() is not None and not self.peek().first:
            w = self.take(kind='word')
            if w == 'wrap':
                op.wrap = True
            elif w == 'unless':
                op.unless = self.take(kind='word')
            elif w == 'readable':
                self.take('(')
                statuses = {k: v for k, v, _ in (self.api.status_type.names if self.api.status_type else [])}
                while not self.accept(')'):
                    s = self.take(kind='word')
                    if s not in statuses:
                        self.fail(s, f"unknown status '{s}'{nearest(s, statuses)}")
                    op.readable.append((str(s), statuses[s]))
                    self.accept(',')
            elif w in KINDS[1:]:
                op.kind = str(w)
            else:
                self.fail(w, f"'{w}' says nothing about an operation{nearest(w, allowed)}")

    def check_arguments(self, op):
        names = [a.name for a in op.args]
        for i, a in enumerate(op.args):
            if a.name in names[:i]:
                self.fail(a.line, f"two arguments of {op.name} are called '{a.name}'")
            for b in (a.length, a.count):
                if b is not None and b.kind == 'word' and b not in names:
                    self.fail(b, f"{op.name} has no argument '{b}'{nearest(b, names)}")
        if [a.how for a in op.args].count('status') > 1:
            self.fail(op.name, f'{op.name} has more than one status')
        if len(op.args) > 255:
            self.fail(op.name, f'{op.name} has more arguments than a record can hold')
        if op.unless and op.unless not in names:
            self.fail(op.unless, f"{op.name} has no argument '{op.unless}'{nearest(op.unless, names)}")


def parse(path, root):
    api = Api()
    p = Parser(api, root)
    p.read(path)
    if not api.domain:
        raise Bad(f'{os.path.relpath(path, root)}:1: no domain statement')
    api.operations.sort(key=lambda o: o.number)
    return api
