import type { ComponentChildren } from 'preact';
import { Brand } from './brand.js';
import { Preferences } from './preferences.js';

interface LoginFrameProps {
  /** Which of the services it is. */
  product: string;
  children: ComponentChildren;
  onSubmit: (event: Event) => void;
}

/** The only form on a page, for users who are not signed in. */
export function LoginFrame({ product, children, onSubmit }: LoginFrameProps) {
  return (
    <main class="login">
      <form onSubmit={onSubmit}>
        <Brand product={product} />
        {children}
      </form>
      <Preferences />
    </main>
  );
}
