# SPDX-License-Identifier: MIT
"""The reader's half: names, types and values of all operations, as src/record/describe.h wants them."""
from emit_taps import head, upper

CLASSES = {'handle': 'ADDRESS', 'callback': 'ADDRESS', 'integer': None, 'enum': 'ENUM', 'status': 'ENUM', 'flags': 'FLAGS',
           'struct': 'STRUCT', 'properties': 'PROPERTIES'}


def type_class(t):
    return CLASSES[t.cls] or {'i': 'SIGNED', 'u': 'UNSIGNED', 'f': 'FLOAT'}[t.rep[0]]


def role(word):
    return f'GT_ROLE_{word.upper() if word else "NONE"}'


class Types:
    """Types that arguments need, numbered; 0 is any address, 1 any byte."""

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


def parts_of(t, types, domain):
    names = [f'\t{{INT64_C({value}), "{name}", {len(name)}, {types.number(follows) if follows else 0}}},'
             for name, value, follows in sorted(t.names, key=lambda n: n[1])]
    fields = [f'\t{{"{n}", {len(n)}, {types.number(f)}, {offset}, {role(r)}}},'
              for f, n, offset, r in t.fields]
    return ([f'static const struct gt_value_name names_{domain}_{t.name}[] = {{'] + names + ['};'] if names else []) + \
        ([f'static const struct gt_field fields_{domain}_{t.name}[] = {{'] + fields + ['};'] if fields else [])


def form(a):
    cls = type_class(a.type) if a.type.cls in CLASSES else 'ADDRESS'
    stars = a.stars - (1 if a.how in ('out', 'status') else 0)
    if a.how not in ('value', 'out', 'status', 'pointer'):
        return 'OTHER'
    if cls == 'FLOAT' and not stars:
        return 'OTHER'
    return 'ADDRESS' if stars else {'ENUM': 'NAMED', 'FLAGS': 'NAMED'}.get(cls, cls)


def argument(op, a, types):
    how, stars = {'value': 'VALUE', 'out': 'VALUE', 'status': 'VALUE', 'pointer': 'VALUE', 'string': 'STRING',
                  'strings': 'STRINGS', 'until0': 'LIST', 'array': 'ARRAY', 'outarray': 'ARRAY', 'struct': 'STRUCT',
                  'outstruct': 'STRUCT', 'byvalue': 'STRUCT', 'properties': 'PROPERTIES'}[a.how], a.stars
    if a.how in ('out', 'status', 'array', 'outarray', 'until0', 'struct', 'outstruct', 'properties'):
        stars -= 1
    if how in ('ARRAY', 'LIST') and not stars and a.view.cls == 'void':
        how = 'BYTES'
    return (f'{{"{a.shown}", "{a.shown_type()}", GT_FORM_{form(a)}, {len(a.shown)}, GT_HOW_{how}, '
            f'{types.number(a.view, stars)}, {a.length_arg}, {role(a.role)}, {a.scale}}}')


def info(api):
    """generated/<domain>_info.inc"""
    types, arguments, rows = Types(), [], []
    for op in api.real():
        if op.args:
            arguments.append(f'static const struct gt_argument_info args_{op.name}[] = {{')
            arguments += [f'\t{argument(op, a, types)},' for a in op.args] + ['};']
        rows.append(f'\t[{op.number}] = {{"{op.name}", GT_OP(GT_DOMAIN_{upper(api)}, {op.number}, {len(op.args)}), '
                    f'{len(op.args)}, GT_KIND_{op.kind.upper()}, {op.status_arg(api)}, '
                    f'{"true" if op.number < api.table_count else "false"}, "{op.group}", '
                    f'{"args_" + op.name if op.args else "NULL"}}},')
    status = types.number(api.status_type) if api.status_type else 0
    out = [head(api, 'emit_info.py')] + [line for t in types.list[2:] for line in parts_of(t, types, api.domain)]
    out += ['', f'static const struct gt_type types_{api.domain}[] = {{',
            '\t{"address", GT_TYPE_ADDRESS, 8, NULL, 0, NULL, 0},', '\t{"byte", GT_TYPE_UNSIGNED, 1, NULL, 0, NULL, 0},']
    for t in types.list[2:]:
        names = f'names_{api.domain}_{t.name}, {len(t.names)}' if t.names else 'NULL, 0'
        fields = f'fields_{api.domain}_{t.name}, {len(t.fields)}' if t.fields else 'NULL, 0'
        sign = ' | GT_TYPE_IS_SIGNED' if t.rep.startswith('i') and type_class(t) == 'ENUM' else ''
        out.append(f'\t{{"{t.name}", GT_TYPE_{type_class(t)}{sign}, {t.bytes}, {names}, {fields}}},')
    out += ['};', ''] + arguments
    out += ['', f'static const struct gt_operation_info operations_{api.domain}[] = {{'] + rows + ['};', '']
    if api.succeeds:
        out.append(f'static const int32_t successes_{api.domain}[] = {{{", ".join(str(v) for _, v in api.succeeds)}}};')
    out += [f'static const struct gt_domain_description description_{api.domain} = {{',
            f'\toperations_{api.domain}, sizeof operations_{api.domain} / sizeof operations_{api.domain}[0], '
            f'types_{api.domain}, {status}, {"successes_" + api.domain if api.succeeds else "NULL"}, {len(api.succeeds)}', '};']
    return '\n'.join(out) + '\n'
