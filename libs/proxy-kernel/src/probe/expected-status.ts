/** Parses status codes such as `204`, `200/204` or `200-399/418`. @throws RangeError naming the invalid part. */
export function parseExpectedStatus(text: string): (status: number) => boolean {
  const ranges = text.split(/[/,]/).map((part) => parseRange(part.trim()));
  return (status) => ranges.some(([from, to]) => status >= from && status <= to);
}

function parseRange(part: string): [number, number] {
  const [, from, to = from] = /^([1-5]\d\d)(?:-([1-5]\d\d))?$/.exec(part) ?? [];
  if (from === undefined || Number(to) < Number(from)) {
    throw new RangeError(`${JSON.stringify(part.slice(0, 40))} is not a status code or range, such as 204 or 200-399`);
  }
  return [Number(from), Number(to)];
}
