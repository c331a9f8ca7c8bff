import { contentLines } from '../text/lines.js';

const HEADING = /^\[[ \t]*([A-Za-z][A-Za-z_ ]*?)[ \t]*\]$/;

/** The lines of each section of a configuration of Surge, Loon or Quantumult X, by heading in lower case. */
export class ClientSections {
  /** Headings in their order. */
  readonly headings: string[] = [];
  private readonly sections = new Map<string, string[]>();

  constructor(text: string) {
    let lines: string[] = [];
    for (const { entry } of contentLines(text)) {
      const heading = HEADING.exec(entry)?.[1]?.toLowerCase();
      if (heading === undefined) {
        lines.push(entry);
        continue;
      }
      lines = this.sections.get(heading) ?? [];
      if (!this.sections.has(heading)) this.headings.push(heading);
      this.sections.set(heading, lines);
    }
  }

  of(heading: string): readonly string[] {
    return this.sections.get(heading) ?? [];
  }

  /** `key = value` lines of a section; keys in lower case unless they are names. */
  *pairs(heading: string): Generator<{ key: string; value: string }> {
    for (const line of this.of(heading)) {
      const equals = line.indexOf('=');
      if (equals > 0) yield { key: line.slice(0, equals).trim(), value: line.slice(equals + 1).trim() };
    }
  }
}
