# SPDX-License-Identifier: MIT
"""Emit the data for readers of captures: names, types and values of all operations, packed for
src/record/packed.h."""
from emit_taps import head, upper

CLASSES = {
    'handle': 'ADDRESS', 'callback': 'ADDRESS', 'integer': None, 'enum': 'ENUM', 'status': 'ENUM',
    'flags': 'FLAGS', 'struct': 'STRUCT', 'properties': 'PROPERTIES'
}


def type_class(t):
    return CLASSES[t.cls] or {'i': 'SIGNED', 'u': 'UNSIGNED', 'f': 'FLOAT'}[t.rep[0]]


def role(word):
    return f'GT_ROLE_{word.upper() if word else "NONE"}'


def mark(op):
    return f'GT_MARK_{(op.mark or "none").upper()}'


def joints(op):
    return ''.join(f' | GT_JOINT_{word.upper()} << 8' for word in op.joints)


class Types:
    """Types of arguments, numbered. 0 is any address, 1 any byte."""

    def __init__(self):
        self.list = [None, None]

    def number(self, t, stars=0):
        if stars:
            return 0
        if t.cls in ('void', 'char'):
            return 1
        if t not in self.list:
            for _, _, follows in t.names:
                if follows:
                    self.number(follows)
            for field in t.fields:
                self.number(field[0])
            self.list.append(t)
        return self.list.index(t)


class Texts:
    """All texts of a domain, concatenated, without duplicates. Tables refer to texts by offset,
    because pointers would have to be relocated whenever the library is loaded."""

    def __init__(self):
        self.places, self.bytes = {}, 0

    def place(self, text):
        if text not in self.places:
            self.places[text] = self.bytes
            self.bytes += len(text) + 1
        return self.places[text]

    def lines(self):
        rest, out = list(self.places), []
        while rest:
            line = ''
            while rest and (not line or len(line) + len(rest[0]) < 110):
                line += f'"{rest.pop(0)}\\0" '
            out.append('\t' + line.rstrip())
        return out


def form(a):
    cls = type_class(a.type) if a.type.cls in CLASSES else 'ADDRESS'
    stars = a.stars - (1 if a.how in ('out', 'status') else 0)
    if a.how not in ('value', 'out', 'status', 'pointer'):
        return 'OTHER'
    if cls == 'FLOAT' and not stars:
        return 'OTHER'
    return 'ADDRESS' if stars else {'ENUM': 'NAMED', 'FLAGS': 'NAMED'}.get(cls, cls)


def alignment(a):
    return 8 if a.stars else 1 if a.type.packed else max(
        (f[0].bytes for f in a.type.fields), default=1) if a.type.cls == 'struct' else a.type.bytes


def places(op):
    """Layout of an operation's arguments in a C struct: offset and bytes of each."""
    at = 0
    for a in op.args:
        at = -(-at // alignment(a)) * alignment(a)
        yield at, 8 if a.stars else a.type.bytes
        at += 8 if a.stars else a.type.bytes


def argument(op, a, types, texts, place):
    how, stars = {
        'value': 'VALUE', 'out': 'VALUE', 'status': 'VALUE', 'pointer': 'VALUE', 'string': 'STRING',
        'strings': 'STRINGS', 'until0': 'LIST', 'array': 'ARRAY', 'outarray': 'ARRAY',
        'struct': 'STRUCT', 'outstruct': 'STRUCT', 'byvalue': 'STRUCT', 'properties': 'PROPERTIES',
        'named': 'NAMED'
    }[a.how], a.stars
    if a.how in ('out', 'status', 'array', 'outarray', 'until0', 'struct', 'outstruct',
                 'properties'):
        stars -= 1
    if how in ('ARRAY', 'LIST') and not stars and a.view.cls == 'void':
        how = 'BYTES'
    came = [b.name for b in op.args].index(str(a.count)) if a.how == 'outarray' and a.count else 255
    out = 'true' if a.how in ('out', 'status', 'outarray', 'outstruct') else 'false'
    return (
        f'{{{texts.place(a.shown)}, {texts.place(a.shown_type())}, {place[0]}, GT_FORM_{form(a)},'
        f' {len(a.shown)}, GT_HOW_{how}, {types.number(a.view, stars)}, {a.length_arg}, {came},'
        f' {role(a.role)}, {a.scale}, {place[1]}, {a.stars}, {types.number(a.view)}, {out}}}, /*'
        f' {op.name} {a.shown} */'
    )


def rows_of_types(types, texts):
    """Types, their values, their members: three tables."""
    values, fields = [], []
    rows = [
        f'{{{texts.place("address")}, 8, GT_TYPE_ADDRESS, 0, 0, 0, 0}},',
        f'{{{texts.place("byte")}, 1, GT_TYPE_UNSIGNED, 0, 0, 0, 0}},'
    ]
    for t in types.list[2:]:
        sign = ' | GT_TYPE_IS_SIGNED' if t.rep.startswith('i') and type_class(t) == 'ENUM' else ''
        rows.append(
            f'{{{texts.place(t.name)}, {t.bytes}, GT_TYPE_{type_class(t)}{sign}, {len(values)},'
            f' {len(t.names)}, {len(fields)}, {len(t.fields)}}}, /* {t.name} */'
        )
        values += [
            f'{{INT64_C({value}), {texts.place(name)}, {len(name)},'
            f' {types.number(follows) if follows else 0}}}, /* {name} */'
            for name, value, follows in sorted(t.names, key=lambda n: n[1])
        ]
        fields += [
            f'{{{texts.place(n)}, {offset}, {len(n)}, {types.number(f)}, {role(r)}}}, /*'
            f' {t.name}.{n} */'
            for f, n, offset, r in t.fields
        ]
    return rows, values, fields


def table(kind, name, domain, rows):
    return [f'static const struct gt_packed_{kind} {name}_{domain}[] = {{'
            ] + ['\t' + row for row in rows or ['{0}']] + ['};']


def info(api):
    """generated/<domain>_info.inc"""
    types, texts, arguments, operations = Types(), Texts(), [], []
    for op in api.real():
        operations.append(
            f'{{{texts.place(op.name)}, {texts.place(op.group)}, GT_OP(GT_DOMAIN_{upper(api)},'
            f' {op.number}, {len(op.args)}), {len(arguments)}, GT_KIND_{op.kind.upper()},'
            f' GT_MEMORY_{(op.memory or "unknown").upper()}, {mark(op)}, {op.status_arg(api)},'
            f' {"true" if op.number < api.table_count else "false"},'
            f' {"true" if op.waits else "false"}, GT_FINISHED_{op.finished()},'
            f' GT_COLLECTIVE_{(op.collective or "none").upper()}{joints(op)}}}, /* {op.name} */'
        )
        arguments += [argument(op, a, types, texts, place) for a, place in zip(op.args, places(op))]
    status = types.number(api.status_type) if api.status_type else 0
    rows, values, fields = rows_of_types(types, texts)
    out = [head(api, 'emit_info.py'), f'static const char texts_{api.domain}[] ='] + texts.lines()
    out[-1] += ';'
    out += table('value', 'values', api.domain, values) + table('field', 'fields', api.domain,
                                                                fields)
    out += table('type', 'types', api.domain, rows) + table('argument', 'arguments', api.domain,
                                                            arguments)
    out += table('operation', 'operations', api.domain, operations)
    lists = []
    for name, statuses in (('successes', api.succeeds), ('refusals', api.refuses)):
        if statuses:
            numbers = ', '.join(str(v) for _, v in statuses)
            out.append(f'static const int32_t {name}_{api.domain}[] = {{{numbers}}};')
        lists.append(f'{name}_{api.domain}, {len(statuses)}' if statuses else 'NULL, 0')
    out += [
        f'static const struct gt_packed_domain packed_{api.domain} = {{',
        (
            f'\ttexts_{api.domain}, values_{api.domain}, fields_{api.domain}, types_{api.domain},'
            f' arguments_{api.domain}, operations_{api.domain},'
        ),
        (
            f'\t{len(values)}, {len(fields)}, {len(rows)}, {len(arguments)}, {len(operations)}, '
            f'{max((op.number for op in api.real()), default=-1) + 1}, {status},'
        ),
        f'\t{", ".join(lists)}',
        '};',
    ]
    return '\n'.join(out) + '\n'
