/** One line of an answer of `/metrics`. */
interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** What a process of ours answers at `/metrics`, in the text format of Prometheus. */
export class Scrape {
  /** Type by name, of every family, with samples or without. */
  readonly types = new Map<string, string>();
  readonly samples: readonly Sample[];

  constructor(text: string) {
    for (const [, name = '', type = ''] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) this.types.set(name, type);
    this.samples = [...text.matchAll(/^([a-z]\w*)(?:\{(.*)\})? (\S+)$/gim)].map(
      ([, name = '', labels = '', value]) => ({
        name,
        labels: Object.fromEntries(
          [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', text = '']) => [key, text]),
        ),
        value: Number(value),
      }),
    );
  }

  static async of(base: string): Promise<Scrape> {
    const answer = await fetch(`${base}/metrics`);
    if (!answer.ok) throw new Error(`${base}/metrics answered ${answer.status}: ${await answer.text()}`);
    return new Scrape(await answer.text());
  }

  /** The sum of the samples with these labels; undefined where there is none. */
  value(name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
    const found = this.samples.filter(
      (sample) => sample.name === name && Object.entries(labels).every(([key, text]) => sample.labels[key] === text),
    );
    return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
  }
}
