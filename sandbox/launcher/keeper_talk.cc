// What is asked of a keeper about its program's input and output: text and keys, the screen,
// readers, people who look on.

#include <errno.h>
#include <stddef.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sandbox/base/unique_fd.h"
#include "sandbox/launcher/input.h"
#include "sandbox/launcher/keeper_impl.h"
#include "sandbox/launcher/kernel.h"
#include "sandbox/launcher/output.h"
#include "sandbox/launcher/protocol.h"
#include "sandbox/launcher/pty.h"
#include "sandbox/launcher/terminal/keys.h"
#include "sandbox/launcher/terminal/paste.h"
#include "sandbox/launcher/terminal/screen.h"
#include "sandbox/launcher/wire.h"

namespace berth::launcher {

bool Keeper::Key(std::string_view name, std::string* bytes) const {
  std::string key;
  if (!KeyBytes(name, screen_ != nullptr && screen_->application_cursor(), &key)) return false;
  // Enter ends a line: that is CR on a terminal and LF in a pipe.
  *bytes += !spec_.pty && key == "\r" ? "\n" : key;
  return true;
}

void Keeper::Send(Client* client, Reader* in) {
  const std::string_view text = in->GetBytes();
  const std::string_view submit = in->GetBytes();
  const bool paste = in->Get<uint8_t>() != 0;
  const Level await = in->Get<Level>();
  const uint32_t timeout_ms = in->Get<uint32_t>();
  if (!in->done()) return Fail(client, EINVAL, Step::kRequest, "send");
  if (ended() || stdin_closing_)
    return Fail(client, EPIPE, Step::kRequest, "the program takes no input any more");
  std::string bytes =
      paste && spec_.pty && screen_ != nullptr && screen_->bracketed_paste() && !text.empty()
          ? PastePayload(text, true)
          : std::string(text);
  if (!submit.empty()) {
    std::string key;
    if (!Key(submit, &key)) {
      return Fail(client, EINVAL, Step::kRequest, "no key is called '" + std::string(submit) + "'");
    }
    bytes += key;
  }
  InputQueue::Item item;
  item.bytes = std::move(bytes);
  item.submits = !submit.empty();
  item.await = await;
  item.deadline = NowNs() + uint64_t{timeout_ms} * 1000000;
  item.client = client->id;
  if (!input_.Push(std::move(item))) {
    return Fail(client, ENOBUFS, Step::kRequest, "too much input waits for the program already");
  }
}

void Keeper::Keys(Client* client, Reader* in) {
  const std::vector<const char*> names = in->GetStrings(4096);
  if (!in->done()) return Fail(client, EINVAL, Step::kRequest, "keys");
  if (ended() || stdin_closing_)
    return Fail(client, EPIPE, Step::kRequest, "the program takes no input any more");
  InputQueue::Item item;
  for (const char* name : names) {
    if (name != nullptr && !Key(name, &item.bytes)) {
      return Fail(client, EINVAL, Step::kRequest, std::string("no key is called '") + name + "'");
    }
  }
  item.client = client->id;
  if (!input_.Push(std::move(item))) {
    return Fail(client, ENOBUFS, Step::kRequest, "too much input waits for the program already");
  }
}

void Keeper::Capture(Client* client, Reader* in) {
  const int lines = in->Get<int32_t>();
  const bool colour = in->Get<uint8_t>() != 0;
  if (!in->done()) return Fail(client, EINVAL, Step::kRequest, "capture");
  Writer out;
  if (spec_.pty) {
    out.Put(std::string_view(screen()->Capture(lines, colour)));
  } else {
    // Rendered only now: pipes are for programs, few of them are looked at. A terminal would have
    // added the CR.
    Screen page(spec_.rows, spec_.cols, static_cast<size_t>(spec_.scrollback_lines));
    out_->Settle();
    err_->Settle();
    for (uint64_t at = mixed_.begin(); at < mixed_.end();) {
      const std::string_view piece = mixed_.At(at);
      for (std::string_view rest = piece; !rest.empty();) {
        const size_t n = std::min(rest.find('\n'), rest.size());
        page.Feed(rest.substr(0, n));
        if (n < rest.size()) page.Feed("\r\n");
        rest.remove_prefix(std::min(n + 1, rest.size()));
      }
      at += piece.size();
    }
    out.Put(std::string_view(page.Capture(lines, colour)));
  }
  Ok(client, out.body());
}

void Keeper::AddReader(Client* client, Message* message, Reader* in) {
  const uint8_t stream = in->Get<uint8_t>();
  const int64_t from = in->Get<int64_t>();
  const int64_t buffer = in->Get<int64_t>();
  UniqueFd pipe = message->TakeFd(0);
  if (!in->done() || !pipe.ok() || buffer < 0)
    return Fail(client, EINVAL, Step::kRequest, "output");
  if (stream > 1 || (stream == 1 && spec_.pty)) {
    return Fail(client, ENOTSUP, Step::kRequest, "a terminal has one stream");
  }
  Output& output = stream == 0 ? *out_ : *err_;
  const uint64_t begins = output.AddReader(std::move(pipe), from, static_cast<uint64_t>(buffer));
  Writer out;
  out.Put(static_cast<int64_t>(begins));
  Ok(client, out.body());
}

void Keeper::Attach(Client* client, Message* message) {
  UniqueFd socket = message->TakeFd(0);
  if (!socket.ok()) return Fail(client, EINVAL, Step::kRequest, "attach");
  if (!spec_.pty)
    return Fail(client, ENOTSUP, Step::kRequest,
                "this session has pipes and no terminal; read its output");
  viewers_.push_back({std::move(socket), screen()->Repaint(), out_->end()});
  Ok(client);
}

void Keeper::Resize(Client* client, Reader* in) {
  const uint16_t rows = in->Get<uint16_t>(), cols = in->Get<uint16_t>();
  if (!in->done() || rows == 0 || cols == 0 || rows > Screen::kMaxRows || cols > Screen::kMaxCols) {
    return Fail(client, EINVAL, Step::kRequest,
                "a terminal has 1 to 1024 rows and 1 to 4096 columns");
  }
  if (!spec_.pty)
    return Fail(client, ENOTSUP, Step::kRequest, "this session has pipes and no terminal");
  spec_.rows = rows;
  spec_.cols = cols;
  if (screen_ != nullptr) screen_->Resize(rows, cols);
  ResizePty(pty_.get(), rows, cols);
  Ok(client);
}

void Keeper::AnswerInput() {
  for (const InputQueue::Result& result : input_.TakeResults()) {
    for (Client& client : clients_) {
      if (client.id != result.client) continue;
      if (result.error != 0) {
        Fail(&client, result.error, Step::kRequest,
             result.error == ETIMEDOUT ? "the program did not take it in time; nothing was sent"
                                       : "the program takes no input any more");
      } else {
        Writer out;
        out.Put(result.level);
        Ok(&client, out.body());
      }
    }
  }
}

}  // namespace berth::launcher
