import { buildStandIns, type BaseImages } from './stand-in-images.js';
import { docker } from './engine.js';

const OFFICIAL: BaseImages = { NODE_IMAGE: 'node:26-slim', POSTGRES_IMAGE: 'postgres:18', REDIS_IMAGE: 'redis:8' };

/**
 * The official images where they are at hand or can be pulled; where one cannot, stand-ins for all three, made of Debian
 * packages and the pinned Node.
 */
export async function findBaseImages(
  { folder, standIns }: { folder: string; standIns: boolean },
  print: (line: string) => void,
): Promise<BaseImages> {
  const logFile = `${folder}/images.log`;
  try {
    if (standIns) throw new Error('asked for');
    for (const name of Object.values(OFFICIAL)) {
      await docker(['image', 'inspect', name], { logFile }).catch(() => docker(['pull', name], { logFile }));
    }
    return OFFICIAL;
  } catch {
    print('      the official images are not reached: stand-ins of Debian packages take their place');
    return await buildStandIns(folder);
  }
}
