import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import {
  ByteReader,
  ByteReaderError,
  createHttpServer,
  guardPromise,
  resetStream,
  setFlowTimeout,
} from '@gatehouse/net';
import type { GatewayAnswer, SocketVisitor, VisitorRequest } from '../access/visitor-verifier.js';
import type { VisitorPolicyConfig } from '../config.js';
import { badRequestAnswer } from '../vhost/answers.js';
import { busyAnswer, formTarget, isNavigation, type LoginForm } from './login-form.js';
import { seeOther } from './host-verifier.js';
import { visitorRefusal } from './login-page.js';
import { safePath } from './safe-path.js';
import { readVisitorRequest } from './visitor-request.js';

export interface RawGreetingOptions {
  form: LoginForm;
  /** The current policies. */
  policiesOf: (visitor: SocketVisitor) => readonly VisitorPolicyConfig[];
  /** Lets the address in; false: the policy has changed meanwhile. */
  letIn: (visitor: SocketVisitor, policy: VisitorPolicyConfig) => boolean;
  failed: (visitor: SocketVisitor) => void;
  /** From accept until the visitor's form has been answered, in milliseconds. */
  deadlineMs: number;
}

const MAX_HEAD_BYTES = 16 * 1024;
/** How a browser's request for a page or with a form begins. */
const METHODS = ['GET /', 'HEAD /', 'POST /'];
const LONGEST = 6;

/**
 * The login form on the port of a raw tunnel. A visitor whose address is not admitted, and whose first bytes are an
 * HTTP request, gets it. The first bytes are checked once, before anything goes to the agent; other visitors are reset.
 */
export class RawGreeting {
  private readonly options: RawGreetingOptions;
  private readonly server: Server;
  private readonly visitors = new WeakMap<object, SocketVisitor>();

  constructor(options: RawGreetingOptions) {
    this.options = options;
    this.server = createHttpServer({ maxHeaderSize: MAX_HEAD_BYTES }, (request, response) => {
      guardPromise(response, this.answer(request, response));
    });
    this.server.on('clientError', (_, socket) => void socket.destroy());
  }

  /** The socket must be paused and unread, and belongs to the greeting from now on. */
  async greet(visitor: SocketVisitor): Promise<void> {
    const { socket } = visitor;
    const timer = setFlowTimeout(socket, () => resetStream(socket), this.options.deadlineMs);
    socket.on('close', () => clearTimeout(timer));
    const reader = new ByteReader(socket, MAX_HEAD_BYTES);
    try {
      if (!(await beginsRequest(reader))) return this.turnAway(visitor);
      reader.restore();
      this.visitors.set(socket, visitor);
      this.server.emit('connection', socket);
      socket.resume();
    } catch (error) {
      if (!(error instanceof ByteReaderError)) throw error;
      this.turnAway(visitor);
    }
  }

  private turnAway(visitor: SocketVisitor): void {
    this.options.failed(visitor);
    resetStream(visitor.socket);
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const visitor = this.visitors.get(request.socket);
    if (!visitor) return void response.destroy();
    const { status, headers, body } = await this.respond(visitor, request);
    // The next connection may be for the target.
    response.shouldKeepAlive = false;
    response.writeHead(status, headers.flat());
    response.end(request.method === 'HEAD' ? '' : body);
  }

  private async respond(visitor: SocketVisitor, request: IncomingMessage): Promise<GatewayAnswer> {
    const { resource, clientId, visitor: from } = visitor;
    const asked = readVisitorRequest({ resource, clientId, visitor: from, scheme: 'http' }, request);
    if (!asked) return badRequestAnswer(400, 'visitor_auth');
    const { form, policiesOf } = this.options;
    const policies = policiesOf(visitor).filter(({ type }) => type === 'password');
    const policyId = formTarget(asked);
    try {
      if (policyId !== null) return await this.submit(visitor, asked, policies, policyId);
      if (!isNavigation(asked)) return visitorRefusal(asked, 401, 'useBrowser');
      return form.page(asked, policies, { status: 401, problem: null, next: safePath(asked.target), headers: [] });
    } catch (error) {
      return busyAnswer(asked, error) ?? visitorRefusal(asked, 400, 'unreadableForm');
    }
  }

  private async submit(
    visitor: SocketVisitor,
    asked: VisitorRequest,
    policies: readonly VisitorPolicyConfig[],
    policyId: number,
  ): Promise<GatewayAnswer> {
    const submitted = await this.options.form.submit(asked, policies, policyId);
    if ('status' in submitted) {
      if (submitted.status === 401 || submitted.status === 429) this.options.failed(visitor);
      return submitted;
    }
    const { policy, next } = submitted;
    return this.options.letIn(visitor, policy) ? seeOther(next, []) : visitorRefusal(asked, 401, 'passwordChanged');
  }
}

async function beginsRequest(reader: ByteReader): Promise<boolean> {
  for (let count = 1; count <= LONGEST; count += 1) {
    const text = (await reader.peek(count)).toString('latin1');
    const start = text.slice(0, LONGEST);
    if (METHODS.some((method) => start.startsWith(method))) return true;
    if (!METHODS.some((method) => method.startsWith(start))) return false;
  }
  return false;
}
