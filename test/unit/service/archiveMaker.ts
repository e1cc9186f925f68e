import { crc32, deflateRawSync, gzipSync } from 'node:zlib';
import { Header } from 'tar';

/** The entry may be unsafe. By default it is a file. */
export interface ArchiveItem {
  readonly path: string;
  readonly content?: string;
  readonly type?: 'File' | 'Directory' | 'SymbolicLink' | 'Link' | 'FIFO';
  readonly linkpath?: string;
}

/** The tar.gz holds exactly these entries. Nothing is checked or normalised. */
export function tarGz(items: readonly ArchiveItem[], { endMarker = true } = {}): Buffer {
  const blocks = items.flatMap(({ path, content = '', type = 'File', linkpath }) => {
    const body = Buffer.from(content);
    const header = new Header({
      path,
      type,
      size: body.length,
      mode: 0o644,
      mtime: new Date(0),
      ...(linkpath && { linkpath }),
    });
    header.encode();
    const padding = Buffer.alloc((512 - (body.length % 512)) % 512);
    return [header.block ?? Buffer.alloc(0), body, padding];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(endMarker ? 1024 : 0)]));
}

export function zip(items: readonly { path: string; content: string }[]): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { path, content } of items) {
    const name = Buffer.from(path);
    const body = deflateRawSync(content);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x0800, 2);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(body.length, 14);
    common.writeUInt32LE(Buffer.byteLength(content), 18);
    common.writeUInt16LE(name.length, 22);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(0o100_644 * 0x1_0000, 6);
    tail.writeUInt32LE(offset, 10);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, name, body]);
    directory.push(Buffer.from('PK\x01\x02'), Buffer.from([20, 3]), common, tail, name);
    locals.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(items.length, 4);
  end.writeUInt16LE(items.length, 6);
  end.writeUInt32LE(central.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...locals, central, Buffer.from('PK\x05\x06'), end]);
}
