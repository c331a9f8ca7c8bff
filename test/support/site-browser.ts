const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

/** What a browser without scripts does on the pages of resource-sharing: cookies, redirections, forms as they stand there. */
export class SiteBrowser {
  readonly #origin: string;
  readonly #cookies = new Map<string, string>();

  constructor(origin: string) {
    this.#origin = origin;
  }

  /** Logs in by the page that is there for it. */
  async logIn(username: string, password: string): Promise<void> {
    const answer = await this.#submit(await this.#get('/login'), { username, password });
    if (answer.status !== 303) throw new Error(`${username} could not log in: ${await answer.text()}`);
  }

  /** Opens an authorization request, clicks the button, and returns where the browser is sent, without going there. */
  async decide(authorizationUrl: string, decision: 'allow' | 'deny'): Promise<URL> {
    const page = await this.#get(authorizationUrl);
    const answer = page.status === 303 ? page : await this.#submit(page, { decision });
    const location = answer.headers.get('location');
    if (answer.status !== 303 || location === null) {
      throw new Error(`the authorization page answered ${answer.status}: ${await answer.text()}`);
    }
    return new URL(location, this.#origin);
  }

  /** A call of the site's own API with this browser's login. */
  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await this.#send(path, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
    return JSON.parse(text) as T;
  }

  async #get(path: string): Promise<Response> {
    return this.#send(path, {});
  }

  /** Sends the first form of the page that has a password or a decision in it, with its own fields and checked boxes. */
  async #submit(page: Response, given: Record<string, string>): Promise<Response> {
    const text = await page.text();
    const wanted = Object.keys(given).at(-1);
    const forms = [...text.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/g)];
    const [, attributes = '', content = ''] = forms.find((match) => match[2]?.includes(`name="${wanted}"`)) ?? [];
    if (content === '') throw new Error(`the page has no form with ${wanted}: ${page.status} ${text.slice(0, 2000)}`);
    const body = new URLSearchParams();
    for (const [, input = ''] of content.matchAll(/<input\b([^>]*)>/g)) {
      const type = attribute(input, 'type');
      if (type === 'hidden' || (type === 'checkbox' && /\schecked\b/.test(input))) {
        body.append(attribute(input, 'name'), attribute(input, 'value'));
      }
    }
    for (const [name, value] of Object.entries(given)) body.append(name, value);
    const action = new URL(attribute(attributes, 'action'), page.url || this.#origin);
    return this.#send(action.href, { method: 'POST', body, headers: { origin: this.#origin } });
  }

  async #send(address: string, init: RequestInit): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = new Headers(init.headers);
    if (cookie !== '') headers.set('cookie', cookie);
    const answer = await fetch(new URL(address, this.#origin), { ...init, headers, redirect: 'manual' });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.#cookies.set(name, value);
    }
    return answer;
  }
}

function attribute(text: string, name: string): string {
  const value = new RegExp(`\\s${name}="([^"]*)"`).exec(text)?.[1] ?? '';
  return value.replaceAll(/&(\w+|#39);/g, (whole, entity: string) => ENTITIES[entity] ?? whole);
}
