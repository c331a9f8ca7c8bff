import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';

export interface LoginAttempt {
  /** Address of the login. */
  readonly url: string;
  /** Sent as JSON. */
  readonly body: object;
  /** Address of this machine that it comes from. */
  readonly from: string;
  /** Port of the proxy that it goes through; without one it goes straight. */
  readonly proxyPort?: number;
  /** Besides those that claim another address. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The status of a login whose headers claim that it came from this machine. */
export async function logInFrom({ url, body, from, proxyPort, headers: more }: LoginAttempt): Promise<number> {
  const { port, pathname } = new URL(url);
  const place = proxyPort === undefined ? { port, path: pathname } : { port: proxyPort, path: url };
  const claims = { 'x-forwarded-for': '127.0.0.1', 'x-real-ip': '127.0.0.1', forwarded: 'for=127.0.0.1' };
  const headers = { 'content-type': 'application/json', ...claims, ...more };
  const login = request({ host: '127.0.0.1', localAddress: from, ...place, method: 'POST', headers, agent: false });
  login.end(JSON.stringify(body));
  const [answer] = (await once(login, 'response')) as [IncomingMessage];
  answer.resume();
  await once(answer, 'end');
  return answer.statusCode ?? 0;
}
