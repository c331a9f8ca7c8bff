import { describe, expect, it } from 'vitest';
import { markup, render } from './markup.js';

describe('markup', () => {
  it('escapes user text in content and in attributes', () => {
    const name = `<script>alert("1")</script>' onload='x' &amp;`;
    expect(markup`<p title="${name}">${name}</p>`.text).toBe(
      '<p title="&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39; onload=&#39;x&#39; &amp;amp;">' +
        '&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39; onload=&#39;x&#39; &amp;amp;</p>',
    );
  });

  it('keeps nested templates unescaped, alone and in lists', () => {
    const items = ['a<b', 'c'].map((item) => markup`<li>${item}</li>`);
    expect(markup`<ul>${items}</ul>`.text).toBe('<ul><li>a&lt;b</li><li>c</li></ul>');
  });

  it('renders nothing for undefined, null and booleans, and numbers unchanged', () => {
    expect(render([undefined, null, false, true, 0, -1.5])).toBe('0-1.5');
  });

  it('makes control and direction characters visible', () => {
    expect(markup`${'a\u0000b\u202ec\nd'}`.text).toBe('a\ufffdb\ufffdc\nd');
  });
});
