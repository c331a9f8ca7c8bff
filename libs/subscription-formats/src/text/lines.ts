/** Lines of a text, whether they end in LF, CRLF or CR. */
export function* eachLine(text: string): Generator<string> {
  const ends = /\r\n|\n|\r/g;
  let start = 0;
  for (let end = ends.exec(text); end !== null; end = ends.exec(text)) {
    yield text.slice(start, end.index);
    start = ends.lastIndex;
  }
  if (start < text.length) yield text.slice(start);
}

const COMMENT = /^(?:#|\/\/|;)/;

/** Trimmed lines with their numbers, from 1; empty ones and comments are left out. */
export function* contentLines(text: string): Generator<{ line: number; entry: string }> {
  let line = 0;
  for (const raw of eachLine(text)) {
    line += 1;
    const entry = raw.trim();
    if (entry !== '' && !COMMENT.test(entry)) yield { line, entry };
  }
}

/** Lines that are looked at to find out what a document is. */
const LOOKED_AT = 20;

/** Whether one of the first lines, without empty ones and comments, is what `test` looks for. */
export function isOneOfFirstLines(text: string, test: (entry: string) => boolean): boolean {
  let looked = 0;
  for (const { entry } of contentLines(text)) {
    if (test(entry)) return true;
    looked += 1;
    if (looked >= LOOKED_AT) return false;
  }
  return false;
}
