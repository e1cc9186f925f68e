/** Every entry has this time, in seconds since 1970 (1980-01-01, the first that zip can say): same content, same bytes. */
const fixedTime = 315_532_800;
const block = 512;
const maxOctalSize = 8 ** 11 - 1;

/** The header of a regular file: POSIX ustar, with a PAX header before it when the name or the size does not fit. */
export function tarHeader(path: string, mode: number, bytes: number): Buffer {
  const name = Buffer.from(path);
  const place = name.length === path.length ? splitName(path) : undefined;
  const records = [
    ...(place === undefined ? [paxRecord('path', name)] : []),
    ...(bytes > maxOctalSize ? [paxRecord('size', Buffer.from(String(bytes)))] : []),
  ];
  const own = ustar(place ?? { prefix: '', name: 'long-name' }, mode, Math.min(bytes, maxOctalSize), '0');
  if (records.length === 0) return own;
  const pax = Buffer.concat(records);
  return Buffer.concat([
    ustar({ prefix: '', name: 'PaxHeader' }, 0o644, pax.length, 'x'),
    pax,
    tarPadding(pax.length),
    own,
  ]);
}

/** The zeros after `bytes` of content. */
export function tarPadding(bytes: number): Buffer {
  return Buffer.alloc((block - (bytes % block)) % block);
}

/** What ends an archive. */
export function tarEnd(): Buffer {
  return Buffer.alloc(2 * block);
}

/** The two name fields of a header; undefined when an ASCII name does not fit. */
function splitName(path: string): { prefix: string; name: string } | undefined {
  if (path.length <= 100) return { prefix: '', name: path };
  const slash = path.indexOf('/', path.length - 101);
  return slash > 0 && slash <= 155 && slash < path.length - 1
    ? { prefix: path.slice(0, slash), name: path.slice(slash + 1) }
    : undefined;
}

/** `<length> <key>=<value>\n`, where the length counts its own digits. */
function paxRecord(key: string, value: Buffer): Buffer {
  const rest = Buffer.concat([Buffer.from(` ${key}=`), value, Buffer.from('\n')]);
  let length = rest.length + 1;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return Buffer.concat([Buffer.from(String(length)), rest]);
}

function ustar(
  place: { prefix: string; name: string },
  mode: number,
  bytes: number,
  type: '0' | 'x',
): Buffer {
  const header = Buffer.alloc(block);
  const octal = (value: number, at: number, width: number): void => {
    header.write(value.toString(8).padStart(width - 1, '0'), at, 'latin1');
  };
  header.write(place.name, 0, 'latin1');
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(bytes, 124, 12);
  octal(fixedTime, 136, 12);
  header.fill(' ', 148, 156);
  header.write(type, 156, 'latin1');
  header.write('ustar\x0000', 257, 'latin1');
  header.write(place.prefix, 345, 'latin1');
  let sum = 0;
  // By index: an iterator over each header's bytes takes several times as long.
  for (let at = 0; at < block; at++) sum += header[at] ?? 0;
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}
