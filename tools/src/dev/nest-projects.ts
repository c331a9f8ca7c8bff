import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { ROOT } from '../../bootstrap/layout.mjs';

interface NestCliFile {
  projects?: Record<string, { root: string } | undefined>;
}

/** Folder of a service relative to `root`, as nest-cli.json has it. @throws PlainFailure where it has no such project. */
export function nestProjectFolder(service: string, root = ROOT): string {
  const { projects = {} } = JSON.parse(readFileSync(join(root, 'nest-cli.json'), 'utf8')) as NestCliFile;
  const project = projects[service];
  if (project === undefined) throw new PlainFailure(`nest-cli.json has no project ${service}.`);
  return project.root;
}
