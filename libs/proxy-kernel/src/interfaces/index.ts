export * from './config.js';
export * from './connection.js';
export * from './inbound.js';
export * from './kernel.js';
export * from './outbound.js';
export * from './route.js';
export * from './probe.js';
