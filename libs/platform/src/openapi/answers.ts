import type { ErrorCode } from '@gatehouse/contracts';

/** The successful answer of a route, and inputs of the route that its classes do not describe. */
export interface AnswerDescription {
  /** One line for people. */
  readonly summary: string;
  /** Name of the contract type; absent for an answer that is not JSON of ours. */
  readonly type?: string;
  /** Media type of an answer that is not JSON of ours, or that has this type if the request asks for it. */
  readonly mediaTypes?: readonly string[];
  /** The answer is a download with a file name. */
  readonly file?: boolean;
  /** Header fields of the answer and their meaning. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Contract type of a body without a class. */
  readonly body?: string;
}

type AnswerDetails = Pick<AnswerDescription, 'headers' | 'body' | 'mediaTypes'>;

const ANSWER = 'gatehouse:answer';
const FAILURES = 'gatehouse:failures';

/** The route answers with JSON of this contract type; its status is the route's own. */
export function Answers(type: string, summary: string, details: AnswerDetails = {}): MethodDecorator {
  return describing({ type, summary, ...details });
}

/** The route answers without a body. */
export function AnswersNothing(summary: string): MethodDecorator {
  return describing({ summary });
}

/** The route answers with a file of one of these media types. */
export function AnswersFile(mediaTypes: readonly string[], summary: string): MethodDecorator {
  return describing({ mediaTypes, summary, file: true });
}

/** The route answers with server-sent events. */
export function AnswersEvents(summary: string): MethodDecorator {
  return describing({ mediaTypes: ['text/event-stream'], summary });
}

/** Codes of failures that only some routes have; those of every route need not be listed. */
export function Fails(...codes: readonly ErrorCode[]): MethodDecorator {
  return (_target, _key, descriptor) => {
    Reflect.defineMetadata(FAILURES, codes, descriptor.value as object);
  };
}

function describing(answer: AnswerDescription): MethodDecorator {
  return (_target, _key, descriptor) => {
    Reflect.defineMetadata(ANSWER, answer, descriptor.value as object);
  };
}

/** The `@Answers` of a route handler; undefined without it. */
export function answerOf(handler: object): AnswerDescription | undefined {
  return Reflect.getMetadata(ANSWER, handler) as AnswerDescription | undefined;
}

/** The `@Fails` of a route handler. */
export function failuresOf(handler: object): readonly ErrorCode[] {
  return (Reflect.getMetadata(FAILURES, handler) as readonly ErrorCode[] | undefined) ?? [];
}
