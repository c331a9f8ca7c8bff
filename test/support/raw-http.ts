import { request, type IncomingHttpHeaders } from 'node:http';
import { request as secureRequest } from 'node:https';

export interface HttpQuestion {
  port: number;
  host?: string;
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string;
  /** In TLS, with the name of the host; any certificate is accepted. */
  tls?: boolean;
  localAddress?: string;
  timeoutMs?: number;
}

export interface HttpReply {
  status: number;
  headers: IncomingHttpHeaders;
  rawHeaders: string[];
  body: string;
}

/** One request on a connection of its own. */
export function askHttp(question: HttpQuestion): Promise<HttpReply> {
  const { port, host = 'a.test', method = 'GET', path = '/', headers = {}, body, tls, localAddress } = question;
  const options = {
    host: '127.0.0.1',
    port,
    method,
    path,
    agent: false,
    setHost: false,
    headers: { host, ...headers },
    timeout: question.timeoutMs ?? 10_000,
    ...(localAddress !== undefined && { localAddress }),
  };
  return new Promise((resolve, reject) => {
    const asked = tls ? secureRequest({ ...options, servername: host, rejectUnauthorized: false }) : request(options);
    asked.on('response', (reply) => {
      const parts: Buffer[] = [];
      reply.on('data', (part: Buffer) => parts.push(part));
      reply.on('error', reject);
      reply.on('end', () => {
        const { statusCode: status = 0, headers: fields, rawHeaders } = reply;
        resolve({ status, headers: fields, rawHeaders, body: Buffer.concat(parts).toString('latin1') });
      });
    });
    asked.on('timeout', () => asked.destroy(new Error('no answer in time')));
    asked.on('error', reject);
    asked.end(body);
  });
}
