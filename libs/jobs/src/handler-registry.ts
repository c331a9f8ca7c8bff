import type { QueueName } from '@gatehouse/contracts';
import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { JobHandlersError } from './job-errors.js';
import { handlerMetadata } from './job-handler.js';
import type { HandlesJobs } from './job-types.js';

export interface RegisteredHandler {
  queue: QueueName;
  concurrency: number;
  handler: HandlesJobs;
  /** Class and module, for messages. */
  label: string;
}

/** Finds the classes that `@JobHandler` decorates among the application's providers. */
@Injectable()
export class HandlerRegistry {
  constructor(private readonly discovery: DiscoveryService) {}

  /** One handler for each queue. @throws JobHandlersError with everything that is missing, duplicate or unknown. */
  resolve(queues: readonly QueueName[]): RegisteredHandler[] {
    const found = this.find();
    const problems = [
      ...queues.flatMap((queue) => problemOf(queue, found)),
      ...found
        .filter(({ queue }) => !queues.includes(queue))
        .map(({ queue, label }) => `${label} handles the queue "${queue}", which JobsModule.forRoot() does not list`),
    ];
    if (problems.length > 0) throw new JobHandlersError(`Job handlers are wrong: ${problems.join('; ')}.`);
    return found;
  }

  private find(): RegisteredHandler[] {
    return this.discovery.getProviders().flatMap((wrapper) => {
      const instance = wrapper.instance as HandlesJobs | undefined;
      if (typeof instance !== 'object' || instance === null) return [];
      const metadata = handlerMetadata(instance.constructor);
      if (metadata === undefined) return [];
      const label = `${instance.constructor.name} (${wrapper.host?.name ?? 'no module'})`;
      return [{ ...metadata, handler: instance, label }];
    });
  }
}

function problemOf(queue: QueueName, found: readonly RegisteredHandler[]): string[] {
  const handlers = found.filter((handler) => handler.queue === queue);
  if (handlers.length === 0) return [`the queue "${queue}" has no handler`];
  if (handlers.length === 1) return [];
  return [`the queue "${queue}" has ${handlers.length} handlers: ${handlers.map(({ label }) => label).join(' and ')}`];
}
