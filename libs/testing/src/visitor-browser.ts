import { once } from 'node:events';
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';

export interface PageAsked {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string;
}

export interface PageAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface FoundForm {
  action: string;
  fields: URLSearchParams;
}

export interface VisitedSite {
  scheme?: 'http' | 'https';
  port: number;
  /** As the visitor calls it. */
  host: string;
  /** The visitor's own address, of loopback. */
  from?: string;
}

/** Keeps cookies as a browser does, for one site, and runs no scripts. */
export class VisitorBrowser {
  readonly jar = new Map<string, string>();
  private readonly site: Required<VisitedSite>;

  constructor(site: VisitedSite) {
    this.site = { scheme: 'http', from: '127.0.0.1', ...site };
  }

  async ask({ method = 'GET', path = '/', headers = {}, body }: PageAsked = {}): Promise<PageAnswer> {
    const { scheme, port, host, from } = this.site;
    const cookie = [...this.jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const options = {
      port,
      host: '127.0.0.1',
      localAddress: from,
      method,
      path,
      headers: { host, accept: 'text/html', ...(cookie && { cookie }), ...headers },
      agent: false as const,
    };
    const sent =
      scheme === 'http'
        ? httpRequest(options)
        : // The certificates of tests are signed by nobody.
          httpsRequest({ ...options, servername: host.replace(/:\d+$/, ''), rejectUnauthorized: false });
    sent.end(body);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    let text = '';
    for await (const part of answer) text += String(part);
    for (const line of answer.headers['set-cookie'] ?? []) this.keep(line);
    return { status: answer.statusCode ?? 0, headers: answer.headers, body: text };
  }

  submit({ action, fields }: FoundForm, headers: Record<string, string> = {}): Promise<PageAnswer> {
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    return this.ask({ method: 'POST', path: action, headers: { ...type, ...headers }, body: fields.toString() });
  }

  /** Opens a page, fills its form in and sends it. */
  async prove(password: string, path = '/', headers: Record<string, string> = {}): Promise<PageAnswer> {
    const form = formOf(await this.ask({ path, headers }));
    form.fields.set('password', password);
    return this.submit(form, headers);
  }

  /** Follows the first link of a page, and answers where it leads. */
  async follow(path: string): Promise<string> {
    const { body } = await this.ask({ path });
    const href = decoded(/<a href="([^"]+)"/.exec(body)?.[1] ?? '');
    const { status, headers } = await this.ask({ path: href });
    if (status !== 303) throw new Error(`${href} answered ${status}`);
    return headers.location ?? '';
  }

  private keep(line: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (value === '') this.jar.delete(name);
    else this.jar.set(name, value);
  }
}

export function formOf({ body }: { body: string }): FoundForm {
  const fields = new URLSearchParams();
  const [form = ''] = /<form [\s\S]*?<\/form>/.exec(body) ?? [];
  for (const [, name = '', value = ''] of form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)) {
    fields.set(name, decoded(value));
  }
  return { action: decoded(/<form method="post" action="([^"]+)"/.exec(form)?.[1] ?? ''), fields };
}

function decoded(text: string): string {
  return text.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
}
