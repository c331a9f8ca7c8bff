import { monitorEventLoopDelay, performance, type EventLoopUtilization } from 'node:perf_hooks';

/** The load of a process; all but memory over the last window. */
export interface ProcessLoad {
  residentBytes: number;
  /** Share of the time in which the event loop worked, from 0 to 1. */
  busy: number;
  /** How late timers ran, in seconds: 99 of 100 were not later than this. */
  delayP99: number;
  /** The latest one. */
  delayMost: number;
}

type Window = Omit<ProcessLoad, 'residentBytes'>;

const RESOLUTION_MS = 50;
/** Several programs may read: none of them must begin a new window for the others. */
const WINDOW_MS = 10_000;

/** Measures one process from the first call on, so that a process that nobody asks pays nothing. */
class LoadMeter {
  private readonly delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  private since = performance.now();
  private used: EventLoopUtilization = performance.eventLoopUtilization();
  private last: Window | undefined;

  constructor() {
    this.delays.enable();
  }

  read(): Window {
    const isOver = performance.now() - this.since >= WINDOW_MS;
    if (!isOver && this.last !== undefined) return this.last;
    const window = {
      busy: performance.eventLoopUtilization(this.used).utilization,
      delayP99: lateness(this.delays.percentile(99)),
      delayMost: lateness(this.delays.max),
    };
    if (isOver) this.begin(window);
    return window;
  }

  private begin(last: Window): void {
    this.last = last;
    this.since = performance.now();
    this.used = performance.eventLoopUtilization();
    this.delays.reset();
  }
}

/** Node reports the interval between two looks, in nanoseconds. */
function lateness(nanoseconds: number): number {
  const seconds = nanoseconds / 1e9 - RESOLUTION_MS / 1e3;
  return Number.isFinite(seconds) && seconds > 0 ? seconds : 0;
}

let meter: LoadMeter | undefined;

/** The load of this process. */
export function processLoad(): ProcessLoad {
  meter ??= new LoadMeter();
  return { residentBytes: process.memoryUsage.rss(), ...meter.read() };
}
