import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

export interface ThreadTask<Message, Answer> {
  entry: URL;
  execArgv: readonly string[];
  workerData: unknown;
  timeoutMs: number;
  maxHeapMb: number;
  /** Returns the answer, or undefined if more messages follow; an exception ends the task. */
  receive(message: Message, worker: Worker): Answer | undefined;
  /** The error for a thread that ran out of time or memory. */
  tooDemanding(cause?: unknown): Error;
}

/** Runs a thread until it has answered, with a bound on time and memory. */
export function readInThread<Message, Answer>(task: ThreadTask<Message, Answer>): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const worker = new Worker(fileURLToPath(task.entry), {
    workerData: task.workerData,
    execArgv: [...task.execArgv],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: task.maxHeapMb },
  });
  const timer = setTimeout(() => {
    reject(task.tooDemanding());
    void worker.terminate();
  }, task.timeoutMs);
  worker.on('message', (message: Message) => {
    try {
      const answer = task.receive(message, worker);
      if (answer !== undefined) resolve(answer);
    } catch (error) {
      reject(error);
    }
  });
  worker.once('error', (error: NodeJS.ErrnoException) =>
    reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? task.tooDemanding(error) : error),
  );
  worker.once('exit', () => reject(task.tooDemanding()));
  return promise.finally(() => clearTimeout(timer));
}
