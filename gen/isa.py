# SPDX-License-Identifier: MIT
"""Translate soft/amdgpu/isa/*.isa to C: the interpreter's instruction table, its scalar functions
and its lane loops.

Generates from NAME.isa: NAME_ops.inc (soft/amdgpu/isa/isa_wave.h defines the types of the rows),
NAME_scalar.inc, NAME_lanes.inc and NAME_hand.h (prototypes of its `hand` functions). The comment at
the start of NAME.isa describes the language."""
import os
import re

SECTIONS = {
    'sop2': 128, 'sop1': 256, 'sopc': 128, 'sopk': 32, 'sopp': 128, 'smem': 256, 'vop2': 64,
    'vop1': 256, 'vopc': 256, 'vop3': 1024, 'vop3p': 128, 'memory': 128, 'mubuf': 128, 'mimg': 128,
    'atomic': 128, 'ds': 256, 'compare': 256
}
SCALAR = {'u32': 'uint32_t', 'i32': 'int32_t', 'u64': 'uint64_t', 'i64': 'int64_t'}
LANE = {
    'u32': 'uint32_t', 'i32': 'int32_t', 'f32': 'float', 'u16': 'uint32_t', 'i16': 'int32_t',
    'f16': 'float', 'u64': 'uint64_t', 'i64': 'int64_t', 'f64': 'double', 'u24': 'uint32_t',
    'i24': 'int32_t', 'b32': 'uint32_t', 'h16': 'uint32_t', 'k32': 'float'
}
FLOAT_CONDITIONS = (('f', '0'), ('lt', 'x < y'), ('eq', 'x == y'), ('le', 'x <= y'),
                    ('gt', 'x > y'), ('lg', 'x < y || x > y'), ('ge', 'x >= y'),
                    ('o', 'x == x && y == y'), ('u', 'x != x || y != y'), ('nge', '!(x >= y)'),
                    ('nlg', '!(x < y || x > y)'), ('ngt', '!(x > y)'), ('nle', '!(x <= y)'),
                    ('neq', '!(x == y)'), ('nlt', '!(x < y)'), ('tru', '1'))
INT_CONDITIONS = (('f', '0'), ('lt', 'x < y'), ('eq', 'x == y'), ('le', 'x <= y'), ('gt', 'x > y'),
                  ('ne', 'x != y'), ('ge', 'x >= y'), ('t', '1'))
FLAGS = {
    'acc', 'carryin', 'vccin', 'sdst', 'opsel', 'keep', 'literal', 'hand', 'high', 'low', 'two',
    'rtn', 'st64', 'compare'
}
SIZES = {'u8': (1, 0), 'i8': (1, 1), 'u16': (2, 0), 'i16': (2, 1)}


class Bad(Exception):
    """A line that cannot be parsed: file, line and reason."""


class Instruction:
    def __init__(self, section, name, number):
        self.section, self.name, self.number = section, name, number
        self.kind, self.types, self.flags = '', [], set()
        self.meaning, self.tags = '', {}
        self.bytes, self.signed, self.of = 0, 0, ''


def parse(path):
    """Return the instructions of a description, in order."""
    section, found, numbers = None, [], {}
    for at, line in enumerate(open(path, encoding='utf-8'), 1):
        line = line.rstrip('\n')
        if not line.strip() or line.startswith('#'):
            continue
        try:
            head = re.fullmatch(r'\[(\w+)\]', line)
            if head:
                section = head.group(1)
                if section not in SECTIONS:
                    raise Bad(f'unknown encoding {section}')
                continue
            if not section:
                raise Bad('an instruction before the first [section]')
            for one in instruction(section, line):
                key = (encoding(one.section), one.number)
                if key in numbers:
                    raise Bad(f'{one.name} has the number of {numbers[key]}')
                if not 0 <= one.number < SECTIONS[one.section]:
                    raise Bad(f'{section} has no number {one.number:#x}')
                numbers[key] = one.name
                found.append(one)
        except Bad as bad:
            raise Bad(f'{os.path.basename(path)}:{at}: {bad}') from None
    names = {i.name for i in found}
    for i in found:
        if i.of and i.of not in names:
            raise Bad(f'{os.path.basename(path)}: {i.name}: unknown instruction {i.of}')
    return found


def encoding(section):
    return {'atomic': 'memory'}.get(section, section)


def instruction(section, line):
    left, *tags = line.split(' ; ') if ' ; ' in line else [line]
    left, _, meaning = left.partition(' : ')
    words = left.split()
    if len(words) < 2:
        raise Bad('expected a name and a number')
    name, words = words[0], words[1:]
    try:
        number = int(words.pop(0), 0)
    except ValueError:
        raise Bad(f'{name}: expected a number') from None
    if section == 'compare':
        yield from compares(name, number)
        return
    one = Instruction(section, name, number)
    one.meaning = meaning.strip()
    for tag in tags:
        word, _, text = tag.strip().partition(' ')
        one.tags[word] = text.strip() or 'r != 0'
    shape(one, words)
    if one.section == 'atomic':
        yield from atomics(one)
    else:
        yield one


def shape(one, words):
    """Return the kind of an instruction from its words."""
    name = one.name
    if words and words[0] in ('nothing', 'branch', 'load', 'store', 'time', 'packed', 'mix', 'read',
                              'write', 'read2', 'write2', 'atomic'):
        one.kind = words.pop(0)
        if one.kind in ('packed', 'mix'):
            one.of = words.pop(0)
        elif one.kind == 'atomic':
            one.types = [words.pop(0)]
            one.bytes = int(one.types[0][1:]) // 8
        elif one.kind in ('load', 'store', 'read', 'write', 'read2', 'write2'):
            size = words.pop(0)
            one.bytes, one.signed = SIZES[size] if size in SIZES else (4 * int(size), 0)
    elif one.section == 'atomic':
        one.kind, one.types = 'atomic', [words.pop(0)]
    while words and words[0] not in FLAGS:
        one.types.append(words.pop(0))
    for w in words:
        if w not in FLAGS:
            raise Bad(f'{name}: {w} is neither a type nor a flag')
    one.flags = set(words)
    if one.kind:
        return
    if 'hand' in one.flags:
        one.kind = 'hand'
    elif one.section.startswith('s'):
        one.kind = 'scalar'
    else:
        one.kind = 'vector'
    if one.kind != 'hand' and not one.meaning:
        raise Bad(f'{name} has no meaning')
    known = LANE if one.kind == 'vector' else SCALAR
    for t in one.types if one.kind != 'hand' else ():
        if t not in known and t not in ('scc', 'none', 'saveexec', 'writeexec', 'mask', 'maskx'):
            raise Bad(f'{name}: {t} is not a type here')


def compares(kind, first):
    conditions = FLOAT_CONDITIONS if kind[0] == 'f' else INT_CONDITIONS
    for step, prefix, result in ((0, 'v_cmp', 'mask'), (16, 'v_cmpx', 'maskx')):
        for n, (word, meaning) in enumerate(conditions):
            one = Instruction('vopc', f'{prefix}_{word}_{kind}', first + step + n)
            one.kind, one.types, one.meaning = 'vector', [result, kind, kind], meaning
            if kind in ('u32', 'i32', 'u64', 'i64') and meaning not in '01':
                one.tags['line'] = word
            yield one


def atomics(one):
    for extra, bits, tail in ((0, 32, ''), (0x20, 64, '_x2')):
        other = Instruction('atomic', f'atomic_{one.name}{tail}', one.number + extra)
        other.kind, other.types, other.bytes = 'atomic', [f'{one.types[0]}{bits}'], bits // 8
        other.flags, other.meaning = one.flags, one.meaning
        yield other


def width(t):
    return 64 if t.endswith('64') else 0 if t in ('mask', 'maskx', 'none') else 32


# ---- C ----

def banner(path):
    return (
        f'/* Made by gen/isa.py from soft/amdgpu/isa/{os.path.basename(path)}. Do not edit: run'
        ' tools/generate. */\n'
    )


def lanes_of(one):
    """Return the lane loops of an instruction: (suffix, meaning)."""
    if one.kind != 'vector':
        return []
    loops = [('', one.meaning)]
    if 'clamp' in one.tags:
        loops.append(('_clamp', one.tags['clamp']))
    return loops


def lane_loop(one, suffix, meaning):
    result, operands = one.types[0], one.types[1:]
    compare, carry = result in ('mask', 'maskx'), 'carry' in one.tags
    if compare and operands[0] == operands[1]:
        return f'COMPARE({one.name}, {LANE[operands[0]]}, get_{operands[0]}, {meaning})\n'
    text = f'static void LANES({one.name}{suffix})(struct soft_lanes *n)\n{{\n'
    text += '\tconst uint32_t ' + ', '.join(f'*{row} = n->{row}'
                                            for row, _ in zip('abc', operands)) + ';\n'
    if not compare:
        text += '\tuint32_t *d = n->d;\n'
    if carry or compare:
        text += '\tuint32_t out[64];\n'
    if {'carryin', 'vccin'} & one.flags:
        text += '\tuint32_t carry_in[64];\n\n\trow_of(carry_in, n->carry_in);\n'
    text += '\n\tEACH_LANE {\n'
    for c in dict.fromkeys(LANE[t] for t in operands):
        text += f'\t\t{c} ' + ', '.join(f'{name} = get_{t}({row}, l)'
                                        for name, row, t in zip('xyz', 'abc', operands)
                                        if LANE[t] == c) + ';\n'
    if {'carryin', 'vccin'} & one.flags:
        text += '\t\tuint32_t k = carry_in[l];\n'
    if compare:
        text += f'\n\t\tout[l] = -(uint32_t)!!({meaning});\n'
    else:
        text += f'\t\t{LANE[result]} r = {meaning};\n\n'
        if carry:
            text += f'\t\tout[l] = -(uint32_t)!!({one.tags["carry"]});\n'
        text += f'\t\tput_{result}(d, l, r);\n'
    text += '\t}\n'
    if carry or compare:
        text += '\tn->mask_out = mask_of(out);\n'
    return text + '}\n'


def lanes(path, found):
    loops = [(one, s, m) for one in found for s, m in lanes_of(one)]
    text = banner(path) + '\n' + '\n'.join(lane_loop(*loop) for loop in loops).replace(
        ')\n\nCOMPARE(', ')\nCOMPARE(')
    text += '\nconst soft_lanes_function LANES(table)[] = {\n\tNULL,\n'
    return text + ''.join(f'\tLANES({one.name}{s}),\n' for one, s, _ in loops) + '};\n'


def scalar_function(one):
    """Return the function of a scalar instruction, which reads all operands before it writes."""
    if one.kind == 'branch':
        return (
            f'static int scalar_{one.name}(struct soft_wave *w, const struct soft_step *s)\n{{\n'
            f'\treturn branch(w, s, {one.meaning});\n}}\n')
    result, operands = one.types[0], one.types[1:]
    text = f'static int scalar_{one.name}(struct soft_wave *w, const struct soft_step *s)\n{{\n'
    out = {'scc': 'u32', 'saveexec': 'u64', 'writeexec': 'u64'}.get(result, result)
    bits = 64 if out.endswith('64') else 32
    used = one.meaning + ' ' + ' '.join(one.tags.values())
    if one.section == 'sopk':
        t = (operands or [result])[0]
        if re.search(r'\bx\b', used):
            text += f'\t{SCALAR[t]} x = ({SCALAR[t]})w->s[s->result];\n'
        text += (
            f'\t{SCALAR[t]} y ='
            f' ({SCALAR[t]})({"uint16_t" if t[0] == "u" else "int16_t"})s->offset;\n'
        )
    else:
        for n, (name, t) in enumerate(zip('xy', operands)):
            text += f'\t{SCALAR[t]} {name} = ({SCALAR[t]})source{t[1:]}(w, s, {n});\n'
    if re.search(r'\bscc\b', used):
        text += '\tuint32_t scc = w->scc;\n'
    if re.search(r'\bd\b', used):
        text += f'\t{SCALAR[out]} d = ({SCALAR[out]})register{bits}(w, s->result);\n'
    if re.search(r'\be\b', used):
        text += '\tuint64_t e = pair(w, REG_EXEC);\n'
    text += f'\t{SCALAR[out]} r = ({SCALAR[out]})({one.meaning});\n\n'
    if result == 'scc':
        text += '\tw->scc = r != 0;\n'
    elif result in ('saveexec', 'writeexec'):
        text += f'\tset_register64(w, s->result, {"e" if result == "saveexec" else "r"});\n'
        text += '\tset_register64(w, REG_EXEC, r);\n\tw->scc = r != 0;\n'
    else:
        text += f'\tset_register{bits}(w, s->result, ({SCALAR["u" + str(bits)]})r);\n'
        if 'scc' in one.tags:
            text += (
                '\tw->scc ='
                f' {"!!(" + one.tags["scc"] + ")" if one.tags["scc"] != "r != 0" else "r != 0"};\n'
            )
    return text + '\treturn 0;\n}\n'


def merge_function(one):
    t = one.types[0]
    ctype, bits = LANE[t], t[1:]
    text = f'static uint64_t merge_{one.name}(uint64_t m_, uint64_t x_, uint64_t y_)\n{{\n'
    for name in 'mxy':
        if name == 'y' and not re.search(r'\by\b', one.meaning):
            text += '\t(void)y_;\n'
        elif name == 'm' and not re.search(r'\bm\b', one.meaning):
            text += '\t(void)m_;\n'
        elif t[0] == 'f':
            text += f'\t{ctype} {name} = float{bits}(({LANE["u" + bits]}){name}_);\n'
        else:
            text += f'\t{ctype} {name} = ({ctype}){name}_;\n'
    text += f'\n\treturn bits{bits}({one.meaning});\n' if t[
        0] == 'f' else f'\n\treturn ({LANE["u" + bits]})({one.meaning});\n'
    return text + '}\n'


def scalar(path, found):
    parts = [scalar_function(one) for one in found if one.kind in ('scalar', 'branch')]
    parts += [merge_function(one) for one in found if one.kind == 'atomic']
    return banner(path) + '\n' + '\n'.join(parts)


def rows(one):
    """Return the table rows of an instruction, as C initializers."""
    fields = [
        f'.name = "{one.name}"', f'.encoding = SOFT_{encoding(one.section).upper()}',
        f'.number = {one.number:#x}', f'.kind = SOFT_KIND_{one.kind.upper()}'
    ]
    flags = set(one.flags) - {'hand'}
    types = one.types
    if one.kind == 'vector':
        if 'carry' in one.tags:
            flags.add('carry')
        if types[0] in ('mask', 'maskx'):
            flags.add(types[0])
    if one.kind in ('vector', 'scalar', 'hand') and types:
        fields.append('.type = { ' + ', '.join(f'SOFT_TYPE_{t.upper()}' for t in types) + ' }')
    if one.kind == 'atomic':
        fields.append(f'.merge = merge_{one.name}')
    if one.kind in ('scalar', 'branch'):
        fields.append(f'.run = scalar_{one.name}')
    if one.kind == 'hand':
        fields.append(f'.run = soft_isa_{one.name}')
    if one.bytes:
        fields.append(f'.bytes = {one.bytes}')
    if one.signed:
        fields.append('.is_signed = 1')
    if 'line' in one.tags:
        fields.append(f'.line = SOFT_LINE_{one.tags["line"].upper()}')
    if flags:
        fields.append('.flags = ' + ' | '.join(f'SOFT_FLAG_{f.upper()}' for f in sorted(flags)))
    return fields


def table(path, found):
    index, count = {}, 0
    for one in found:
        for s, _ in lanes_of(one):
            count += 1
            index[one.name + s] = count
    text = banner(path) + '\n'
    text += 'static const struct soft_op ops[] = {\n\t{ .name = "" },\n'
    for one in found:
        fields = rows(one)
        name = one.of or one.name
        if name in index:
            fields.append(f'.lanes = {index[name]}')
        if name + '_clamp' in index:
            fields.append(f'.clamp_lanes = {index[name + "_clamp"]}')
        if one.of:
            of = next(i for i in found if i.name == one.of)
            fields.append('.type = { ' + ', '.join(f'SOFT_TYPE_{t.upper()}' for t in of.types) +
                          ' }')
        text += wrap('\t{ ' + ', '.join(fields) + ' },')
    text += '};\n'
    place = {one.name: n for n, one in enumerate(found, 1)}
    for section in SECTIONS:
        if section in ('compare', 'atomic'):
            continue
        text += f'\nstatic const uint16_t {section}_numbers[{SECTIONS[section]}] = {{\n'
        members = [
            f'[{one.number:#x}]={place[one.name]},' for one in found
            if encoding(one.section) == section
        ]
        text += wrap('\t' + ' '.join(members)) + '};\n'
    return text


def hand(path, found):
    """Return the prototypes of hand-written functions."""
    one = ''.join(f'int soft_isa_{one.name}(struct soft_wave *w, const struct soft_step *s);\n'
                  for one in found
                  if one.kind == 'hand')
    return banner(path) + one


def wrap(line, limit=128):
    """Break a line at spaces, and indent continuation lines with two tabs."""
    out, indent = '', line[:len(line) - len(line.lstrip('\t'))]
    words, now = line.split(' '), ''
    for w in words:
        if now and len(now.expandtabs(8)) + 1 + len(w) > limit:
            out += now + '\n'
            now = indent + '\t' + w
        else:
            now = f'{now} {w}' if now else w
    return out + now + '\n'


OUTPUTS = (('ops.inc', table), ('scalar.inc', scalar), ('lanes.inc', lanes), ('hand.h', hand))


def outputs(path):
    """Return (file name, text) of all files generated from a description."""
    found = parse(path)
    name = os.path.splitext(os.path.basename(path))[0]
    return [(f'{name}_{tail}', emit(path, found)) for tail, emit in OUTPUTS]
