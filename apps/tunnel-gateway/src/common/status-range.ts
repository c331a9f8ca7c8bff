/** `200`, or `200-399` with both ends. No framework here: the edge parses with it, too. @throws RangeError */
export function parseStatusRange(text: string): { from: number; to: number } {
  const [, first, last = first] = /^([2-5]\d\d)(?:-([2-5]\d\d))?$/.exec(text.trim()) ?? [];
  const [from, to] = [Number(first), Number(last)];
  if (!(from <= to)) throw new RangeError('must be a status such as 200, or a range such as 200-399');
  return { from, to };
}
