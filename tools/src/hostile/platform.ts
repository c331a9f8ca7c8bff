import { PlainFailure } from '../../bootstrap/failure.mjs';
import { runningState, type PlatformState } from '../supervisor/state-file.js';
import { findPassword } from '../supervisor/running-platform.js';
import { liveState, makeHome, OwnPlatform } from '../trials/own-platform.js';

/** A platform that runs as `npm start` runs it. */
export interface Platform {
  readonly home: string;
  readonly password: string;
  /** @throws PlainFailure where it has ended */
  readonly state: PlatformState;
  close(): Promise<void>;
}

/** The one that runs in this home; it stays. @throws PlainFailure where there is none */
export function runningPlatform(home: string, env: NodeJS.ProcessEnv): Platform {
  if (runningState(home) === undefined) {
    throw new PlainFailure('no platform runs in this home.', { advice: [`home: ${home}`] });
  }
  return {
    home,
    password: findPassword(env, home),
    get state() {
      return liveState(home);
    },
    close: () => Promise.resolve(),
  };
}

/** One in a new home; both are gone after close(). */
export async function startPlatform(): Promise<Platform> {
  const { home, remove } = makeHome();
  try {
    const platform = await OwnPlatform.start(home);
    const { password } = platform;
    return {
      home,
      password,
      get state() {
        return platform.state;
      },
      close: async () => {
        await platform.stop();
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}
