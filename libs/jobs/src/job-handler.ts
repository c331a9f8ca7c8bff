import 'reflect-metadata';
import type { QueueName } from '@gatehouse/contracts';
import { Injectable } from '@nestjs/common';

const HANDLER = Symbol('job handler');

export interface JobHandlerOptions {
  /** Concurrent jobs of the queue in one process. Default 1. */
  concurrency?: number;
}

export interface JobHandlerMetadata {
  queue: QueueName;
  concurrency: number;
}

/** Declares an injectable class as the handler of a queue; it implements `HandlesJobs`. */
export function JobHandler(queue: QueueName, options: JobHandlerOptions = {}): ClassDecorator {
  return (target) => {
    Injectable()(target);
    const metadata: JobHandlerMetadata = { queue, concurrency: options.concurrency ?? 1 };
    Reflect.defineMetadata(HANDLER, metadata, target);
  };
}

export function handlerMetadata(target: object): JobHandlerMetadata | undefined {
  return Reflect.getOwnMetadata(HANDLER, target) as JobHandlerMetadata | undefined;
}
