import { parentPort, workerData } from 'node:worker_threads';
import { RuleSetFileError } from '@gatehouse/proxy-kernel';
import type { ThreadAnswer } from './rule-set-parser.js';
import { readRuleSet } from '../kernel-config/read-rule-set.js';
import type { RuleSetForm } from '../kernel-config/read-rule-set.js';

/** Parses the one rule set that the thread was started with, answers, and ends. */
const { content, form } = workerData as { content: Uint8Array; form: RuleSetForm };
parentPort?.postMessage(read());

function read(): ThreadAnswer {
  try {
    return { set: readRuleSet(Buffer.from(content.buffer, content.byteOffset, content.byteLength), form) };
  } catch (error) {
    if (error instanceof RuleSetFileError) return { refused: error.message };
    throw error;
  }
}
