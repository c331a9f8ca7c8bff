import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'vite';

interface Node {
  type: string;
  [member: string]: unknown;
}

/** How a text begins that says what is wrong with a field. */
const PROBLEM = /^(?:\$property |\w+ )?(?:must|may) |^(?:is|are|has|needs|cannot|should|holds|each) /;
/** Errors whose first argument is a code or a field. */
const CODED = /^(?:AppError|OAuthError|PermanentJobError|FormatError|KernelConfigError|RuleError|\w+Failure)$/;
const SKIPPED = /(?:\.spec|\.fixture|\.d|\/main)\.ts$|\/(?:openapi|api-reference|demo|kernel|edge|edge-supervisor)\//;

/**
 * Texts of errors in the sources below a folder, in English, each with the file that has it and `{}` for each value: of
 * `AppError` and `fieldError`, of properties and variables called `message` or `detail`, and what a checker of a field returns or throws.
 */
export function errorTextsIn(folder: URL): { file: string; text: string }[] {
  const root = fileURLToPath(folder);
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !SKIPPED.test(`/${file}`))
    .flatMap((file) => {
      const texts: string[] = [];
      const { program } = parseSync(file, readFileSync(`${root}/${file}`, 'utf8'));
      walk(program, (node) => texts.push(...textsOf(node)));
      return texts.filter(isForPeople).map((text) => ({ file, text }));
    });
}

/** A text with nothing but values needs no translation of its own. */
function isForPeople(text: string): boolean {
  return /[a-z]{2}.* |^[A-Z][a-z]+ /.test(text.replaceAll(/[\w$.[\]{}]*: |\{\}/g, ''));
}

function walk(node: unknown, visit: (node: Node) => void): void {
  if (Array.isArray(node)) for (const child of node) walk(child, visit);
  else if (isNode(node)) {
    visit(node);
    for (const child of Object.values(node)) if (typeof child === 'object') walk(child, visit);
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Partial<Node>).type === 'string';
}

function textsOf(node: Node): string[] {
  const args = node['arguments'] as Node[] | undefined;
  switch (node.type) {
    case 'NewExpression':
      return CODED.test(nameOf(node['callee']) ?? '') ? literals(args?.[1]) : literals(args?.[0]).filter(isProblem);
    case 'CallExpression':
      if (nameOf(node['callee']) === 'unexpected') return literals(args?.[0]);
      return /^\w+Error$/.test(nameOf(node['callee']) ?? '') ? literals(args?.[1]) : [];
    case 'Property':
      return /^(?:message|defaultMessage|detail)$/.test(nameOf(node['key']) ?? '') ? literals(node['value']) : [];
    case 'VariableDeclarator':
      return nameOf(node['id']) === 'message' ? literals(node['init']) : [];
    case 'ReturnStatement':
      return literals(node['argument']).filter(isProblem);
    default:
      return [];
  }
}

function isProblem(text: string): boolean {
  return PROBLEM.test(text);
}

function nameOf(node: unknown): string | undefined {
  return isNode(node) && node.type === 'Identifier' ? (node['name'] as string) : undefined;
}

/** Both branches of a choice; nothing for what is no literal. */
function literals(node: unknown): string[] {
  if (!isNode(node)) return [];
  switch (node.type) {
    case 'Literal':
      return typeof node['value'] === 'string' ? [node['value']] : [];
    case 'ConditionalExpression':
      return [...literals(node['consequent']), ...literals(node['alternate'])];
    case 'ArrowFunctionExpression':
      return literals(node['body']);
    case 'TemplateLiteral':
      return [(node['quasis'] as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join('{}')];
    case 'BinaryExpression':
      return literals(node['left']).flatMap((left) => literals(node['right']).map((right) => left + right));
    default:
      return [];
  }
}
