import { render } from 'preact';

render(<h1>Gatehouse</h1>, document.body);
