import { mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheRoot, installOnce } from './installOnce.ts';
import { npmInstall } from './npmInstall.ts';

const monospace = '@expo-google-fonts/noto-sans-mono';
const monospaceVersion = '0.4.2';

/**
 * These environment variables give a browser exactly the fonts from npm, none of the machine's:
 * Noto Sans JP for Latin and Japanese text, Noto Sans Mono for code.
 */
export async function prepareFonts(): Promise<{ FONTCONFIG_FILE: string }> {
  const sans = path.dirname(
    fileURLToPath(import.meta.resolve('@expo-google-fonts/noto-sans-jp/package.json')),
  );
  const folder = path.join(cacheRoot, 'fonts');
  const file = path.join(folder, 'fonts.conf');
  await installOnce(folder, 'Fonts', (into) => npmInstall(into, [`${monospace}@${monospaceVersion}`]));
  await mkdir(path.join(folder, 'cache'), { recursive: true });
  const mono = path.join(folder, 'node_modules', monospace);
  const folders = [sans, mono].flatMap((family) =>
    ['400Regular', '700Bold'].map((weight) => path.join(family, weight)),
  );
  // Another process may be reading it.
  const written = `${file}.${String(process.pid)}`;
  await writeFile(written, configuration(folders, path.join(folder, 'cache')));
  await rename(written, file);
  return { FONTCONFIG_FILE: file };
}

function configuration(folders: readonly string[], cache: string): string {
  const prefer = (generic: string, ...families: string[]): string =>
    `<alias binding="same"><family>${generic}</family><prefer>${families.map((name) => `<family>${name}</family>`).join('')}</prefer></alias>`;
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  ${folders.map((folder) => `<dir>${folder.replaceAll('&', '&amp;')}</dir>`).join('\n  ')}
  <cachedir>${cache.replaceAll('&', '&amp;')}</cachedir>
  ${prefer('monospace', 'Noto Sans Mono', 'Noto Sans JP')}
  ${['sans-serif', 'system-ui', 'serif'].map((generic) => prefer(generic, 'Noto Sans JP')).join('\n  ')}
  <match target="pattern"><edit name="family" mode="append_last"><string>Noto Sans JP</string></edit></match>
</fontconfig>
`;
}
