import 'reflect-metadata';
import { JsonLogger, NEST_OPTIONS, rootModule, runCommand } from '@gatehouse/platform';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';
import { DemoSeed } from './demo/demo-seed.js';
import { demoLines } from './demo/demo-lines.js';
import { SERVICE } from './service.js';

await runCommand(SERVICE.name, async () => {
  const settings = SERVICE.readSettings();
  // Standard output is only for the result.
  const write = (line: string): void => void process.stderr.write(line);
  const logger = new JsonLogger({ service: SERVICE.name, level: 'warn', write });
  await SERVICE.prepare(settings, logger);
  const root = rootModule({ module: AppModule.forRoot(settings) }, logger);
  const app = await NestFactory.createApplicationContext(root, { ...NEST_OPTIONS, logger });
  try {
    return demoLines(await app.get(DemoSeed).seed({ force: process.argv.includes('--force') }));
  } finally {
    await app.close();
  }
});
