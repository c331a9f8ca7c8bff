import { describe, expect, it, vi, beforeEach, afterEach } from 'vitest';
import { AgentWatch } from './agent-watch.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function watched(): { watch: AgentWatch; seen: string[] } {
  const seen: string[] = [];
  const watch = new AgentWatch(null, {
    ping: () => seen.push('ping'),
    answers: (value) => seen.push(value ? 'answers' : 'silent'),
    lost: () => seen.push('lost'),
  });
  return { watch, seen };
}

describe('the watch over an agent', () => {
  it('asks it when a visitor comes, and again while it says nothing', () => {
    const { watch, seen } = watched();
    watch.visited();
    expect(seen).toEqual(['ping']);
    vi.advanceTimersByTime(1_900);
    expect(seen).toEqual(['ping', 'ping']);
    vi.advanceTimersByTime(100);
    expect(seen).toEqual(['ping', 'ping', 'silent']);
    vi.advanceTimersByTime(60_000);
    expect(seen).toEqual(['ping', 'ping', 'silent', 'lost']);
    watch.heard();
    expect(seen.at(-1)).toBe('answers');
    watch.end();
  });

  it('asks nothing while the agent speaks, and nothing without visitors', () => {
    const { watch, seen } = watched();
    watch.visited();
    for (let beat = 0; beat < 30; beat += 1) {
      watch.heard();
      vi.advanceTimersByTime(400);
    }
    vi.advanceTimersByTime(60_000);
    expect(seen).toEqual(['ping']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('starts again with the next visitor, and ends with the connection', () => {
    const { watch, seen } = watched();
    watch.visited();
    watch.heard();
    vi.advanceTimersByTime(500);
    watch.end();
    watch.visited();
    vi.advanceTimersByTime(60_000);
    expect(seen).toEqual(['ping']);
  });
});
