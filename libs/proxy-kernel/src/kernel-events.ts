import type { KernelEvents } from './interfaces/index.js';

/** Who listens to a kernel. */
export class EventListeners {
  readonly #listeners: { [E in keyof KernelEvents]: KernelEvents[E][] } = {
    closed: [],
    traffic: [],
    switched: [],
    circuit: [],
  };

  on<E extends keyof KernelEvents>(event: E, listener: KernelEvents[E]): void {
    this.#listeners[event].push(listener);
  }

  emit<E extends keyof KernelEvents>(event: E, value: Parameters<KernelEvents[E]>[0]): void {
    for (const listener of this.#listeners[event]) (listener as (value: Parameters<KernelEvents[E]>[0]) => void)(value);
  }
}
