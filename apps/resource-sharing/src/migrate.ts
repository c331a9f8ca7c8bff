import 'reflect-metadata';
import { SERVICE } from './service.js';

await SERVICE.runMigrations();
