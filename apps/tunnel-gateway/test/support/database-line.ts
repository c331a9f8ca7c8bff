import { CutLine } from '@gatehouse/testing';

/** A way to the database that can be cut. */
export class DatabaseLine {
  readonly url: string;
  private readonly line: CutLine;

  private constructor(line: CutLine, url: string) {
    this.line = line;
    this.url = url;
  }

  static async to(databaseUrl: string): Promise<DatabaseLine> {
    const url = new URL(databaseUrl);
    const line = await CutLine.to({ host: url.hostname, port: Number(url.port) });
    url.hostname = '127.0.0.1';
    url.port = String(line.port);
    return new DatabaseLine(line, url.href);
  }

  cut(): void {
    this.line.cut();
  }

  mend(): void {
    this.line.mend();
  }

  close(): Promise<void> {
    return this.line.close();
  }
}
