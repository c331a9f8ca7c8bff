export * from './proxy-node.js';
export * from './queues.js';
