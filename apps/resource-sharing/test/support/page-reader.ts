import request from 'supertest';

const unescape = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

type Values = Readonly<Record<string, string | readonly string[]>>;

/** A browser without JavaScript: keeps cookies, reads pages and fills in the forms that they contain. */
export class PageReader {
  readonly url: string;
  private readonly cookies = new Map<string, string>();
  /** What was last answered. */
  last: request.Response | undefined;

  constructor(url: string) {
    this.url = url;
  }

  get cookie(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  get page(): string {
    return this.last?.text ?? '';
  }

  /** The text of the page without its tags. */
  get text(): string {
    return unescape(this.page.replaceAll(/<[^>]*>/g, ' ')).replaceAll(/\s+/g, ' ');
  }

  get location(): string {
    return this.last?.headers['location'] ?? '';
  }

  async get(path: string): Promise<request.Response> {
    return this.keep(await request(this.url).get(path).set('Cookie', this.cookie).redirects(0));
  }

  /** Sends a body as a form, without loading a page first. */
  async post(path: string, body: Values, headers: Record<string, string> = {}): Promise<request.Response> {
    const form = new URLSearchParams();
    for (const [name, value] of Object.entries(body))
      for (const one of [value].flat()) form.append(name, one as string);
    const call = request(this.url).post(path).set('Cookie', this.cookie).redirects(0);
    return this.keep(await call.set(headers).type('form').send(form.toString()));
  }

  /** Submits the form of the last page whose action is `action`, with its hidden fields and what is filled in. */
  async submit(
    action: string,
    values: Values = {},
    { containing = '', headers = {} }: { containing?: string; headers?: Record<string, string> } = {},
  ): Promise<request.Response> {
    const forms = [...this.page.matchAll(/<form[^>]*action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/g)];
    const found = forms.find(([, at = '', body = '']) => unescape(at) === action && body.includes(containing));
    if (found === undefined) {
      throw new Error(
        `no form for ${action}, only for ${forms.map(([, at]) => at).join(', ')}: ${this.text.slice(0, 500)}`,
      );
    }
    const hidden = [...(found[2] ?? '').matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)];
    const fields = Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, unescape(value)]));
    return this.post(action, { ...fields, ...values }, headers);
  }

  /** Goes where the last answer sent the browser. */
  follow(): Promise<request.Response> {
    return this.get(this.location);
  }

  async logIn(username: string, password: string): Promise<void> {
    await this.get('/login');
    await this.submit('/login', { username, password });
    if (this.last?.status !== 303) throw new Error(`${username} could not log in: ${this.text.slice(0, 300)}`);
  }

  private keep(answer: request.Response): request.Response {
    for (const line of (answer.headers['set-cookie'] ?? []) as unknown as string[]) {
      const [pair = ''] = line.split(';');
      const at = pair.indexOf('=');
      if (line.includes('Max-Age=0')) this.cookies.delete(pair.slice(0, at));
      else this.cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
    this.last = answer;
    return answer;
  }
}
