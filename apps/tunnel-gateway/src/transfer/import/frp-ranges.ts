/** Ports in a row of both ends, as texts for a file: `6000-6006`, or one port. */
interface Run {
  first: string;
  second: string;
  isRange: boolean;
}

/** The loop over ranges of ports that frp documents; the name of its variable, and both lists. */
const HEAD =
  /\{\{-?[ \t]*range[ \t]+\$_,[ \t]*\$(\w{1,32})[ \t]*:=[ \t]*parseNumberRangePair[ \t]+"([\d, \t-]{1,2000})"[ \t]+"([\d, \t-]{1,2000})"[ \t]*-?\}\}/g;
const END = /\{\{-?[ \t]*end[ \t]*-?\}\}/g;
const MAX_PORT = 65_535;
const MAX_LOOPS = 1_000;
const MAX_PORTS = 10_000;
/** What all loops of a file may become, in characters. */
const MAX_CHARACTERS = 2_000_000;

/**
 * Fills in loops over pairs of ports: each run of ports in a row becomes one entry, whose ports are texts such as
 * `6000-6006`. Loops of another kind, or with lists that are no pairs, stay as they are.
 */
export function fillRanges(text: string): string {
  let filled = '';
  let at = 0;
  let left = MAX_CHARACTERS;
  let loops = 0;
  for (const head of text.matchAll(HEAD)) {
    if (head.index < at) continue;
    const from = head.index + head[0].length;
    END.lastIndex = from;
    const end = END.exec(text);
    if (!end) break;
    const [, name = '', locals = '', remotes = ''] = head;
    const runs = runsOf(portsOf(locals), portsOf(remotes));
    const body = text.slice(from, end.index);
    left -= runs.length * (body.length + 1);
    loops += 1;
    if (runs.length === 0 || left < 0 || loops > MAX_LOOPS) break;
    filled += text.slice(at, head.index) + runs.map((run) => fill(body, name, run)).join('');
    at = end.index + end[0].length;
  }
  return filled + text.slice(at);
}

/** A range in place of a number is a text, within a text it is a part of it. */
function fill(body: string, name: string, { first, second, isRange }: Run): string {
  const field = `\\{\\{-?[ \\t]*\\$${name}\\.(First|Second)[ \\t]*-?\\}\\}`;
  const ports = (which: string): string => (which === 'First' ? first : second);
  const quoted = (which: string): string => (isRange ? `"${ports(which)}"` : ports(which));
  return body
    .replaceAll(new RegExp(`=[ \\t]*${field}`, 'g'), (_, which: string) => `= ${quoted(which)}`)
    .replaceAll(new RegExp(field, 'g'), (_, which: string) => ports(which));
}

/** Empty: not a list of ports. */
function portsOf(list: string): number[] {
  const ports: number[] = [];
  for (const part of list.split(',')) {
    const [, from = '', to = from] = /^\s*(\d{1,5})(?:\s*-\s*(\d{1,5}))?\s*$/.exec(part) ?? [];
    if (from === '' || Number(to) > MAX_PORT) return [];
    for (let port = Number(from); port <= Number(to); port += 1) ports.push(port);
    if (ports.length > MAX_PORTS) return [];
  }
  return ports;
}

/** Empty: the lists are no pairs. */
function runsOf(locals: readonly number[], remotes: readonly number[]): Run[] {
  if (locals.length !== remotes.length) return [];
  const starts = locals.flatMap((local, index) => {
    const goesOn =
      index > 0 && local === (locals[index - 1] ?? 0) + 1 && remotes[index] === (remotes[index - 1] ?? 0) + 1;
    return goesOn ? [] : [index];
  });
  return starts.map((start, place) => {
    const last = (starts[place + 1] ?? locals.length) - 1;
    const textOf = (ports: readonly number[]): string =>
      last === start ? `${ports[start]}` : `${ports[start]}-${ports[last]}`;
    return { first: textOf(locals), second: textOf(remotes), isRange: last > start };
  });
}
