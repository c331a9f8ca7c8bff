import type { ComponentChildren } from 'preact';

/** In place of a list: what is missing, and what to do next. */
export function Empty({ children, action }: { children: ComponentChildren; action?: ComponentChildren }) {
  return (
    <div class="nothing">
      {children}
      {action && <p class="actions">{action}</p>}
    </div>
  );
}
