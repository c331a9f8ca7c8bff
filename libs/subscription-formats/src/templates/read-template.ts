import type { TemplateTarget } from '@gatehouse/contracts';
import type { OwnTemplate } from '../targets/own-template.js';
import { readClashTemplate } from './clash-template.js';
import { readLineTemplate } from './line-template.js';
import { readSingBoxTemplate } from './sing-box-template.js';
import { MAX_TEMPLATE, TemplateFailure, type CompileFilter } from './template.js';

/**
 * Reads and checks a document into which the nodes of publications are put: a base configuration of a program, with its
 * groups and rules.
 * @param compile makes predicates of the filters of groups.
 * @throws TemplateFailure
 */
export function readTemplate(target: TemplateTarget, given: string, compile: CompileFilter): OwnTemplate {
  const text = given.replace(/^\uFEFF/, '');
  if (text.length > MAX_TEMPLATE) throw new TemplateFailure(null, `a template has up to ${MAX_TEMPLATE / 1024} KiB`);
  switch (target) {
    case 'clash':
      return readClashTemplate(text, compile);
    case 'sing-box':
      return readSingBoxTemplate(text, compile);
    case 'surge':
    case 'loon':
    case 'quantumult-x':
      return readLineTemplate(target, text, compile);
  }
}
