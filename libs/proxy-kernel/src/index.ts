export * from './interfaces/index.js';
