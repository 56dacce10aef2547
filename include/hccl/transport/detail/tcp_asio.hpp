// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one place that includes Boost.Asio (headers only, Boost >= 1.81).

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

namespace hccl::inline v0::detail {

namespace asio = boost::asio;
using asio_error = boost::system::error_code;
using asio::ip::tcp;

}  // namespace hccl::inline v0::detail
