import type { Target } from '../../interfaces/index.js';
import { randomBytes } from 'node:crypto';
import { freshBytes } from '@gatehouse/net';
import { ChunkOpener, ChunkSealer } from './body.js';
import {
  AnswerOpener,
  OPTION,
  SEALED_LENGTH_BYTES,
  responseSecret,
  sealRequest,
  takeRandom,
  type Account,
  type Security,
} from './header.js';

/** A request, with the keys of both bodies. */
export class VmessSession {
  /** Sent before the client's body. */
  readonly head: Buffer;
  readonly sealer: ChunkSealer;
  readonly opener: ChunkOpener;
  private readonly answer: AnswerOpener;
  private readonly mark: number;
  private answerBytes: number | null = null;

  constructor(account: Account, command: number, target: Target, security: Security, framed = true) {
    // These become keys, so `freshBytes` must not be used.
    const random = takeRandom((count) => randomBytes(count));
    const options = framed ? optionsFor(security) : 0;
    const seconds = Math.floor(Date.now() / 1000);
    this.head = sealRequest(account, { command, security, options, target }, random, seconds);
    this.mark = random.mark[0] ?? 0;
    const [key, iv] = [responseSecret(random.key), responseSecret(random.iv)];
    this.answer = new AnswerOpener(key, iv);
    this.sealer = new ChunkSealer({ security, options, key: random.key, iv: random.iv }, freshBytes);
    this.opener = new ChunkOpener({ security, options, key, iv });
  }

  /** The length of the answer before the server's body; 0: more bytes are needed. @throws VmessError. */
  answerLength(bytes: Buffer): number {
    if (bytes.length < SEALED_LENGTH_BYTES) return 0;
    this.answerBytes ??= this.answer.openLength(bytes.subarray(0, SEALED_LENGTH_BYTES));
    const end = SEALED_LENGTH_BYTES + this.answerBytes;
    if (bytes.length < end) return 0;
    this.answer.check(bytes.subarray(SEALED_LENGTH_BYTES, end), this.mark);
    return end;
  }
}

/** The options of clients: padding only if there is a tag. */
function optionsFor(security: Security): number {
  const masked = OPTION.chunkStream | OPTION.chunkMasking;
  return security === 'none' ? masked : masked | OPTION.globalPadding;
}
