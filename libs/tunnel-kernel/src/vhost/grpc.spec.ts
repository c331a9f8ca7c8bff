import { once } from 'node:events';
import {
  connect as connectHttp2,
  constants,
  createServer as createHttp2Server,
  type ClientHttp2Stream,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import {
  Client,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  status,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type ServiceError,
  type sendUnaryData,
} from '@grpc/grpc-js';
import { waitFor } from '@gatehouse/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HostRig } from '../../test/host-rig.js';
import { createServerIdentity } from '../index.js';

const bytes = (message: Buffer): Buffer => message;
const methodOf = (path: string, streams: boolean) => ({
  path,
  requestStream: streams,
  responseStream: streams,
  requestSerialize: bytes,
  requestDeserialize: bytes,
  responseSerialize: bytes,
  responseDeserialize: bytes,
});
const service = {
  say: methodOf('/test.Echo/Say', false),
  chat: methodOf('/test.Echo/Chat', true),
  fail: methodOf('/test.Echo/Fail', false),
  wait: methodOf('/test.Echo/Wait', false),
  mirror: methodOf('/test.Echo/Mirror', false),
};

let rig: HostRig;
let server: Server;
let client: Client;
/** Calls of `wait` that came, and those that were cancelled. */
let waits = { came: 0, cancelled: 0 };
const cleanups: (() => unknown)[] = [];

beforeEach(async () => {
  const { certificate, key } = createServerIdentity('a.test');
  waits = { came: 0, cancelled: 0 };
  rig = await HostRig.start({ defaultCertificate: { chain: certificate, key } });
  server = new Server();
  server.addService(service, {
    say: (call: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>) => {
      if (call.request.toString() === 'nobody') answer({ code: status.NOT_FOUND, details: 'nope' });
      else answer(null, call.request);
    },
    fail: (call: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>) => {
      const metadata = new Metadata();
      metadata.add('why', 'because');
      answer({ code: Number(call.request.toString()), details: 'says “no”, 100 %', metadata });
    },
    wait: (call: ServerUnaryCall<Buffer, Buffer>) => {
      waits.came += 1;
      call.on('cancelled', () => (waits.cancelled += 1));
    },
    mirror: (call: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>) => {
      const [wide = ''] = call.metadata.get('wide');
      const [head, tail] = [new Metadata(), new Metadata()];
      head.set('head', wide);
      for (const value of [wide, 'a second one']) tail.add('tail', value);
      call.sendMetadata(head);
      answer(null, call.request, tail);
    },
    chat: (call: ServerDuplexStream<Buffer, Buffer>) => {
      call.on('data', (message: Buffer) => {
        if (message.toString() === 'leave') call.emit('error', { code: status.UNAUTHENTICATED, details: 'who?' });
        else call.write(message);
      });
      call.on('end', () => call.end());
    },
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  await serve(port);
  client = new Client(`127.0.0.1:${rig.https}`, credentials.createSsl(Buffer.from(certificate)), {
    'grpc.ssl_target_name_override': 'a.test',
    'grpc.default_authority': 'a.test',
  });
});
afterEach(async () => {
  client.close();
  server.forceShutdown();
  for (const cleanup of cleanups.splice(0)) cleanup();
  await rig.close();
});

async function serve(port: number): Promise<void> {
  await rig.serve(rig.hostConfig([{ host: '127.0.0.1', port, weight: 1, scheme: 'h2c', insecure: false }]));
}

function call(path: string, message: string): Promise<{ error: ServiceError | null; answer: string | undefined }> {
  return new Promise((resolve) => {
    client.makeUnaryRequest(path, bytes, bytes, Buffer.from(message), (error, answer) => {
      resolve({ error, answer: answer?.toString() });
    });
  });
}

describe('a gRPC service behind a host', () => {
  it('answers a call', async () => {
    expect(await call(service.say.path, 'hello')).toEqual({ error: null, answer: 'hello' });
  });

  it('keeps the status of a call that fails without a message', async () => {
    const { error } = await call(service.say.path, 'nobody');
    expect(error).toMatchObject({ code: status.NOT_FOUND, details: 'nope' });
  });

  it('returns UNIMPLEMENTED for a method that does not exist', async () => {
    const { error } = await call('/test.Echo/Missing', 'hello');
    expect(error).toMatchObject({ code: status.UNIMPLEMENTED });
  });

  it('keeps every status, with its text and its metadata', async () => {
    const codes = Object.values(status).filter((code) => typeof code === 'number' && code !== status.OK);
    expect(codes).toHaveLength(16);
    for (const code of codes) {
      const { error } = await call(service.fail.path, String(code));
      expect(error).toMatchObject({ code, details: 'says “no”, 100 %' });
      expect(error?.metadata.get('why')).toEqual(['because']);
    }
  });

  it('is cancelled at the service when its caller leaves, or when the deadline has passed', async () => {
    const left = await new Promise<ServiceError | null>((resolve) => {
      const leaving = client.makeUnaryRequest(service.wait.path, bytes, bytes, Buffer.from('x'), resolve);
      void waitFor(() => waits.came === 1).then(() => leaving.cancel());
    });
    expect(left?.code).toBe(status.CANCELLED);
    await waitFor(() => waits.cancelled === 1);

    const late = await new Promise<ServiceError | null>((resolve) => {
      const deadline = Date.now() + 200;
      client.makeUnaryRequest(service.wait.path, bytes, bytes, Buffer.from('x'), { deadline }, resolve);
    });
    expect(late?.code).toBe(status.DEADLINE_EXCEEDED);
    await waitFor(() => waits.cancelled === 2);
  });

  it('keeps large and repeated metadata, in head and trailers', async () => {
    const wide = 'w'.repeat(12_000);
    const metadata = new Metadata();
    metadata.set('wide', wide);
    const received: Metadata[] = [];
    await new Promise<void>((resolve, reject) => {
      const asked = client.makeUnaryRequest(service.mirror.path, bytes, bytes, Buffer.from('x'), metadata, (error) =>
        error ? reject(error) : resolve(),
      );
      asked.on('metadata', (head: Metadata) => received.push(head));
      asked.on('status', ({ metadata: tail }) => received.push(tail));
    });
    await waitFor(() => received.length === 2);
    expect(received[0]?.get('head')).toEqual([wide]);
    expect(received[1]?.get('tail').join(', ')).toBe(`${wide}, a second one`);
  });

  it('keeps the status of a stream, after messages and before the first', async () => {
    for (const messages of [['one', 'two', 'leave'], ['leave']]) {
      const stream = client.makeBidiStreamRequest(service.chat.path, bytes, bytes);
      const received: string[] = [];
      stream.on('data', (message: Buffer) => received.push(message.toString()));
      const failed = new Promise<ServiceError>((resolve) => stream.on('error', resolve));
      // It is not ended: the service ends it.
      for (const message of messages) stream.write(Buffer.from(message));
      const error = await failed;
      expect(error).toMatchObject({ code: status.UNAUTHENTICATED, details: 'who?' });
      expect(received).toEqual(messages.slice(0, -1));
    }
  });

  it('counts calls that fail at once as answered, not as visitors who left', async () => {
    for (let times = 0; times < 20; times += 1) await call(service.say.path, 'nobody');
    await waitFor(() => rig.records.length === 20);
    expect(new Set(rig.records.map(({ reason }) => reason))).toEqual(new Set(['remote_closed']));
  });
});

describe('a target of HTTP/2', () => {
  /** Asks a target that does `act`, and answers the stream to the visitor. */
  async function ask(act: (stream: ServerHttp2Stream) => void): Promise<ClientHttp2Stream> {
    const target = createHttp2Server();
    target.on('stream', (stream: ServerHttp2Stream) => {
      stream.on('error', () => undefined).resume();
      act(stream);
    });
    await once(target.listen(0, '127.0.0.1'), 'listening');
    cleanups.push(() => target.close());
    await serve((target.address() as AddressInfo).port);
    const session = connectHttp2(`https://127.0.0.1:${rig.https}`, { rejectUnauthorized: false });
    cleanups.push(() => session.destroy());
    const stream = session.request({ ':method': 'POST', ':authority': 'a.test', 'content-type': 'application/grpc' });
    stream.on('error', () => undefined);
    stream.end('a message').resume();
    return stream;
  }

  it('that cancels a call of gRPC has it cancelled for the caller', async () => {
    const stream = await ask((target) => target.close(constants.NGHTTP2_CANCEL));
    await once(stream, 'close');
    expect(stream.rstCode).toBe(constants.NGHTTP2_CANCEL);
  });

  it('may repeat a field in its trailers', async () => {
    const stream = await ask((target) => {
      target.respond({ ':status': 200 }, { waitForTrailers: true });
      target.on('wantTrailers', () => target.sendTrailers({ tail: ['one', 'two'] }));
      target.end('a body');
    });
    const [, , raw] = (await once(stream, 'trailers')) as [unknown, number, string[]];
    expect(raw).toEqual(['tail', 'one', 'tail', 'two']);
  });
});

describe('a response over HTTP/2 that the target ends with its head', () => {
  it('also ends with its head for the visitor', async () => {
    const target = createHttp2Server();
    target.on('stream', (stream: ServerHttp2Stream) => {
      stream.on('error', () => undefined).resume();
      stream.respond({ ':status': 200, 'grpc-status': '5' }, { endStream: true });
    });
    await once(target.listen(0, '127.0.0.1'), 'listening');
    cleanups.push(() => target.close());
    await serve((target.address() as AddressInfo).port);

    const session = connectHttp2(`https://127.0.0.1:${rig.https}`, { rejectUnauthorized: false });
    cleanups.push(() => session.destroy());
    const stream = session.request({ ':method': 'POST', ':authority': 'a.test' });
    stream.end('a message').resume();
    const [headers, flags] = (await once(stream, 'response')) as [Record<string, unknown>, number];
    expect(headers['grpc-status']).toBe('5');
    expect(flags & constants.NGHTTP2_FLAG_END_STREAM).toBe(constants.NGHTTP2_FLAG_END_STREAM);
  });
});
