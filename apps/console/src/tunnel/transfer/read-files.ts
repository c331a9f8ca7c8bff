import { t } from '../messages/index.js';

export interface NamedText {
  name: string;
  text: string;
}

export function readFiles(files: readonly File[]): Promise<NamedText[]> {
  return Promise.all(files.map(async (file) => ({ name: file.name, text: await file.text() })));
}

/** @throws Error for people, for what is no JSON object */
export function parseArchive(text: string): Record<string, unknown> {
  try {
    const archive: unknown = JSON.parse(text);
    if (typeof archive === 'object' && archive !== null && !Array.isArray(archive)) {
      return archive as Record<string, unknown>;
    }
  } catch {
    // The same words for both: it is not the file that was meant.
  }
  throw new Error(t('transfer.notAnExport'));
}
