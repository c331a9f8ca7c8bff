import 'reflect-metadata';
import { JsonLogger, NEST_OPTIONS, rootModule, runCommand } from '@gatehouse/platform';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';
import { prepareDatabase, SERVICE_NAME } from './database.js';
import { DemoSeed } from './demo/demo-seed.js';
import { demoLines } from './demo/demo-lines.js';
import { readSettings } from './settings.js';

await runCommand(SERVICE_NAME, async () => {
  const settings = readSettings();
  // Standard output is for the result alone.
  const write = (line: string): void => void process.stderr.write(line);
  const logger = new JsonLogger({ service: SERVICE_NAME, level: 'warn', write });
  await prepareDatabase(settings, logger);
  const root = rootModule({ module: AppModule.forRoot(settings) }, logger);
  const app = await NestFactory.createApplicationContext(root, { ...NEST_OPTIONS, logger });
  try {
    return demoLines(await app.get(DemoSeed).seed({ force: process.argv.includes('--force') }));
  } finally {
    await app.close();
  }
});
