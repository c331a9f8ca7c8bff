import type { PortName } from '../common/edge-ipc.js';

/** A port of the gateway itself cannot be bound. */
export class EdgePortError extends Error {
  readonly port: PortName;
  readonly code: string;

  constructor(port: PortName, cause: NodeJS.ErrnoException) {
    super(cause.message, { cause });
    this.name = 'EdgePortError';
    this.port = port;
    this.code = cause.code ?? '';
  }

  /** Adds to a failed `listen` which port it was. */
  static async guard<T>(port: PortName, listening: Promise<T>): Promise<T> {
    try {
      return await listening;
    } catch (error) {
      throw new EdgePortError(port, error as NodeJS.ErrnoException);
    }
  }
}
