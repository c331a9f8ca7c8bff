export { expectSchemaInSync } from './expect-schema-in-sync.js';
export { createTestDatabase, type TestDatabase, type TestDatabaseOptions } from './test-database.js';
export { waitFor } from './wait-for.js';
