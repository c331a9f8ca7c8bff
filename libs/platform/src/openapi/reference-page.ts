import { SAMPLE_ORIGIN } from './code-samples.js';

/**
 * Starts the reference in a browser: dark if the system or the chosen theme is, with code samples in each operation.
 */
export function startScript(documentPath: string): string {
  const options = JSON.stringify({
    url: documentPath,
    dom_id: '#docs',
    deepLinking: true,
    validatorUrl: null,
    filter: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
  });
  return `'use strict';
${THEME}
${SAMPLES}
${REPAIRS}
SwaggerUIBundle({ ...${options}, plugins: [codeSamples(${JSON.stringify(SAMPLE_ORIGIN)}), repairs] });
`;
}

// The switch of the consoles and the site sets this cookie.
const THEME = `const system = matchMedia('(prefers-color-scheme: dark)');
function applyTheme() {
  const chosen = /(?:^|; )gatehouse_theme=(light|dark)/.exec(document.cookie)?.[1];
  const dark = chosen === undefined ? system.matches : chosen === 'dark';
  document.documentElement.classList.toggle('dark-mode', dark);
}
system.addEventListener('change', applyTheme);
applyTheme();`;

const SAMPLES = `function codeSamples(placeholder) {
  return ({ React }) => {
    const element = React.createElement;
    function Samples({ samples }) {
      const [at, setAt] = React.useState(0);
      const [copied, setCopied] = React.useState(false);
      const source = samples[at].source.replaceAll(placeholder, location.origin);
      const copy = () => navigator.clipboard.writeText(source).then(() => setCopied(true));
      return element('section', { className: 'code-samples', 'aria-label': 'Code samples' },
        element('div', { className: 'code-samples-head' },
          ...samples.map(({ label }, index) => element('button', {
            key: label, type: 'button', 'aria-pressed': index === at,
            onClick: () => { setAt(index); setCopied(false); },
          }, label)),
          navigator.clipboard !== undefined &&
            element('button', { type: 'button', className: 'copy', onClick: copy }, copied ? 'Copied' : 'Copy')),
        element('pre', { tabIndex: 0 }, element('code', null, source)));
    }
    const withSamples = (Original, system) => (props) => {
      const found = system.specSelectors.specJson().getIn(['paths', props.path, props.method, 'x-codeSamples']);
      const samples = found === undefined ? [] : found.toJS();
      return element(React.Fragment, null,
        samples.length > 0 && element(Samples, { samples }),
        element(Original, props));
    };
    return { wrapComponents: { responses: withSamples } };
  };
}`;

// The button that opens an operation contains no link, and every choice of an example has a name.
const REPAIRS = `const repairs = ({ React }) => ({ components: { DeepLink: ({ text }) => React.createElement('span', null, text) } });
new MutationObserver(() => {
  for (const choice of document.querySelectorAll('.examples-select-element:not([aria-label])')) choice.setAttribute('aria-label', 'Example');
}).observe(document.getElementById('docs'), { childList: true, subtree: true });`;

export const REFERENCE_STYLE = `:root { color-scheme: light dark; }
html.dark-mode { color-scheme: dark; }
html:not(.dark-mode):has(#docs) { color-scheme: light; }
body { margin: 0; font-family: system-ui, sans-serif; }
.reference-head { display: flex; justify-content: space-between; gap: 16px; padding: 12px 24px; border-bottom: 1px solid #8884; }
.reference-head nav { display: flex; gap: 16px; }
.reference-head a { color: inherit; font-weight: 600; text-decoration: none; }
.reference-head a:hover { text-decoration: underline; }
html.dark-mode .reference-head { color: #e4e6e6; }
.swagger-ui .info { margin: 24px 0; }
.code-samples { padding: 0 20px 12px; }
.code-samples-head { display: flex; flex-wrap: wrap; gap: 6px; padding: 10px 0; }
.code-samples button { padding: 4px 12px; border: 1px solid #8886; border-radius: 6px; background: none; color: inherit; font: inherit; font-size: 13px; cursor: pointer; }
.code-samples button[aria-pressed=true] { border-color: #1f5fc4; background: #1f5fc4; color: #fff; }
.code-samples .copy { margin-left: auto; }
.code-samples pre { overflow: auto; max-height: 420px; margin: 0; padding: 12px; border-radius: 8px; background: #1c2733; color: #e6edf3; font-size: 12.5px; line-height: 1.5; }
.code-samples pre code { background: none; color: inherit; }
html.dark-mode .code-samples { color: #e4e6e6; }
.swagger-ui .info .title small { background: #59606d; }
.swagger-ui .info .title small.version-stamp { background: #4a6a02; }
html:not(.dark-mode) .swagger-ui .info .url, html:not(.dark-mode) .swagger-ui a.link { color: #1f5fc4; }
html:not(.dark-mode) .swagger-ui .btn.authorize { border-color: #17734a; color: #17734a; }
html:not(.dark-mode) .swagger-ui .btn.authorize svg { fill: #17734a; }
.swagger-ui .opblock.opblock-get .opblock-summary-method { background: #1f5fc4; color: #fff; }
.swagger-ui .opblock.opblock-post .opblock-summary-method { background: #17734a; color: #fff; }
.swagger-ui .opblock.opblock-put .opblock-summary-method { background: #8f5600; color: #fff; }
.swagger-ui .opblock.opblock-patch .opblock-summary-method { background: #0f6b66; color: #fff; }
.swagger-ui .opblock.opblock-delete .opblock-summary-method { background: #c02626; color: #fff; }
.swagger-ui .opblock .microlight span { color: #fff !important; }
html.dark-mode .swagger-ui .examples-select__section-label { color: #e4e6e6; }
.reference-text { max-width: 1000px; margin: 0 auto; padding: 16px 24px 48px; }
.reference-text table { width: 100%; border-collapse: collapse; }
.reference-text :is(th, td) { padding: 8px 12px; border-bottom: 1px solid #8884; text-align: left; }
.reference-text tr:target { background: #ffd54f33; }
`;
