export { defineService, type Service } from './define-service.js';
export type { ServiceDatabase } from './service-database.js';
export type { ServiceDescription } from './service-description.js';
